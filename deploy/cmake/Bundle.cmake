# What deploy/bundle takes from a build to a machine with a GPU, and what
# tests/gpu/run runs there. Both read BUILD/bundle.txt, which has lines like these:
#
#   program bin/reprised
#   file tests/gpu/make_models.py
#   test 600 tests/conformance_cuda_ops_test ARGUMENT...
#
# Programs are below BUILD, files below the sources, and both keep their place in
# the bundle. A line "test", "bench" or "memcheck" is run from the bundle's root,
# for so many seconds at most; memcheck's under compute-sanitizer.

# reprise_bundle_program(TARGET) takes a program along. In a bundle it finds its
# libraries in ../lib, and so do they and what is opened at run time: by RPATH,
# which, unlike RUNPATH, holds for them too.
function(reprise_bundle_program target)
  set_property(GLOBAL APPEND PROPERTY REPRISE_BUNDLE_TARGETS ${target})
  set_target_properties(${target} PROPERTIES BUILD_RPATH "\$ORIGIN/../lib")
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endfunction()

# reprise_bundle_files(FILE...) takes files of this folder along.
function(reprise_bundle_files)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_property(GLOBAL APPEND PROPERTY REPRISE_BUNDLE_LINES "file ${path}")
  endforeach()
endfunction()

# reprise_bundle_run(test|bench|memcheck PROGRAM [TIMEOUT seconds] [ARGS a ...]).
# PROGRAM is tests/TARGET, which is taken along, or a file of the bundle. An
# argument has no blanks.
function(reprise_bundle_run kind program)
  cmake_parse_arguments(ARG "" "TIMEOUT" "ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  get_filename_component(target ${program} NAME)
  get_property(known GLOBAL PROPERTY REPRISE_BUNDLE_TARGETS)
  if(TARGET ${target} AND NOT target IN_LIST known)
    reprise_bundle_program(${target})
  endif()
  list(JOIN ARG_ARGS " " arguments)
  string(STRIP "${kind} ${ARG_TIMEOUT} ${program} ${arguments}" line)
  set_property(GLOBAL APPEND PROPERTY REPRISE_BUNDLE_LINES "${line}")
endfunction()

# Writes the list, once everything is known, and makes the target bundle_programs.
function(reprise_write_bundle)
  get_property(targets GLOBAL PROPERTY REPRISE_BUNDLE_TARGETS)
  get_property(lines GLOBAL PROPERTY REPRISE_BUNDLE_LINES)
  set(content)
  foreach(target IN LISTS targets)
    get_target_property(folder ${target} RUNTIME_OUTPUT_DIRECTORY)
    file(RELATIVE_PATH path ${CMAKE_BINARY_DIR} ${folder}/${target})
    string(APPEND content "program ${path}\n")
  endforeach()
  foreach(line IN LISTS lines)
    string(APPEND content "${line}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/bundle.txt CONTENT "${content}" @ONLY)
  add_custom_target(bundle_programs DEPENDS ${targets})
endfunction()
