# The CUDA toolkit, 12.4 or newer, which compiles runtime/cuda. Nothing of it is
# linked: the driver and NVIDIA's libraries are opened at run time.
#
# Sets REPRISE_HAS_CUDA and, where it is true, REPRISE_CUDA_VERSION ("13.0"),
# REPRISE_CUDA_ROOT, REPRISE_CUDA_INCLUDE, REPRISE_NVCC and REPRISE_CUDA_GENCODE (nvcc's arguments).
# REPRISE_DEVICES says it in words; tests/run reads it from the cache.
#
#   cmake -DPROJECT_SOURCE_DIR=ROOT -P Cuda.cmake
#
# prints the toolkit that a build would take, as "13.0 FOLDER", or nothing.
set(REPRISE_CUDA AUTO CACHE STRING
  "The CUDA device: AUTO (where there is a toolkit), ON or OFF")
set_property(CACHE REPRISE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(REPRISE_CUDA_ARCHS 90 CACHE STRING
  "Compute capabilities that kernels are compiled for, as 80;90; the last one's PTX too")
option(REPRISE_CUDA_ALL_ARCHS
  "All that are served, 75 80 86 89 90, instead of REPRISE_CUDA_ARCHS" OFF)

# Folders that may be a toolkit's, what was asked for by name first.
function(reprise_cuda_roots out)
  file(GLOB wheels
    ${PROJECT_SOURCE_DIR}/build/cuda/lib/python3*/site-packages/nvidia/cu1*)
  find_program(nvcc nvcc NO_CACHE)
  if(nvcc)
    file(REAL_PATH ${nvcc} nvcc)
    cmake_path(GET nvcc PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH on_path)
  endif()
  set(roots ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_HOME}
    ${wheels} /usr/local/cuda ${on_path})
  list(REMOVE_DUPLICATES roots)
  set(${out} ${roots} PARENT_SCOPE)
endfunction()

# The toolkit's version in `version`, or in `fault` why it cannot be used.
function(reprise_cuda_check root version fault)
  foreach(file IN ITEMS bin/nvcc include/cuda.h include/cublasLt.h)
    if(NOT EXISTS ${root}/${file})
      set(${fault} "it has no ${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(STRINGS ${root}/include/cuda.h define REGEX "^#define CUDA_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+" number "${define}")
  if(NOT number)
    set(${fault} "its cuda.h has no CUDA_VERSION" PARENT_SCOPE)
    return()
  endif()
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  if(number LESS 12040)
    set(${fault} "it is CUDA ${major}.${minor}, older than 12.4" PARENT_SCOPE)
    return()
  endif()
  set(${fault} "" PARENT_SCOPE)
  set(${version} ${major}.${minor} PARENT_SCOPE)
endfunction()

set(REPRISE_HAS_CUDA FALSE)
set(devices "CPU (REPRISE_CUDA=OFF)")
if(REPRISE_CUDA)  # AUTO is true, too
  set(devices "CPU (no CUDA toolkit: deploy/setup --cuda)")
  reprise_cuda_roots(roots)
  foreach(root IN LISTS roots)
    if(NOT IS_DIRECTORY ${root})
      continue()
    endif()
    reprise_cuda_check(${root} REPRISE_CUDA_VERSION fault)
    if(fault)
      message(STATUS "CUDA toolkit ${root} is passed over: ${fault}")
      continue()
    endif()
    set(REPRISE_HAS_CUDA TRUE)
    set(REPRISE_CUDA_ROOT ${root})
    set(REPRISE_CUDA_INCLUDE ${root}/include)
    set(REPRISE_NVCC ${root}/bin/nvcc)
    break()
  endforeach()
  if(NOT REPRISE_HAS_CUDA AND NOT REPRISE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "REPRISE_CUDA=${REPRISE_CUDA}, but there is no CUDA "
      "toolkit of 12.4 or newer: say -DCUDAToolkit_ROOT=DIR, or run deploy/setup --cuda")
  endif()
endif()

if(REPRISE_HAS_CUDA)
  set(archs ${REPRISE_CUDA_ARCHS})
  if(REPRISE_CUDA_ALL_ARCHS)
    set(archs 75 80 86 89 90)
  endif()
  set(REPRISE_CUDA_GENCODE)
  foreach(arch IN LISTS archs)
    list(APPEND REPRISE_CUDA_GENCODE -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  # PTX of the last is what the driver compiles for GPUs that come later.
  list(GET archs -1 last)
  list(APPEND REPRISE_CUDA_GENCODE -gencode arch=compute_${last},code=compute_${last})
  list(TRANSFORM archs PREPEND sm_ OUTPUT_VARIABLE names)
  list(JOIN names " " names)
  set(devices "CPU, CUDA ${REPRISE_CUDA_VERSION} (${names})")
endif()
set(REPRISE_DEVICES ${devices} CACHE INTERNAL "Devices in this build")
if(CMAKE_SCRIPT_MODE_FILE AND REPRISE_HAS_CUDA)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${REPRISE_CUDA_VERSION} ${REPRISE_CUDA_ROOT}")
endif()
