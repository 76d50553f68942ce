# Precompiled headers, for builds that start from nothing and have no ccache
# (the two do not go together). Whether each file includes all that it uses
# shows in the builds without them.
option(REPRISE_PRECOMPILE "Precompiled headers; tests are not optimised, cold code less" OFF)
if(REPRISE_PRECOMPILE)
  # gRPC's targets bring -pthread, and a header must be compiled as its users
  # are; a target that still differs compiles without it, with a warning.
  add_compile_options(-pthread $<$<CXX_COMPILER_ID:GNU>:-Wno-error=invalid-pch>)
endif()

# For the targets that follow in a folder: code for which no request waits.
macro(reprise_optimise_less)
  if(REPRISE_PRECOMPILE)
    add_compile_options(-O1)
  endif()
endmacro()

# reprise_precompile(TARGET library|test DEPS...) lets TARGET use the headers of
# its kind: with gRPC's if its DEPS need them. Generated code, which ModelInfer
# does not use, is only optimised less: reprise_precompile(TARGET generated).
function(reprise_precompile target kind)
  if(NOT REPRISE_PRECOMPILE)
    return()
  endif()
  if(kind STREQUAL generated)
    target_compile_options(${target} PRIVATE -O1)
    return()
  endif()
  set(headers <functional> <map> <memory> <string> <vector>
    <absl/status/statusor.h> <absl/strings/str_cat.h>
    <absl/synchronization/mutex.h> <absl/time/clock.h>)
  set(needs reprise_options absl::statusor)
  set(name ${kind}_headers)
  if(kind STREQUAL test)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    list(APPEND needs GTest::gmock)
    target_compile_options(${target} PRIVATE -O0)
    # Several tests of one program are compiled at a time.
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count GREATER 1)
      set_target_properties(${target} PROPERTIES
        UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    endif()
  endif()
  if("${ARGN}" MATCHES "reprise::(grpc_proto|client|server)")
    list(APPEND headers <grpcpp/grpcpp.h> "<proto/grpc_service.grpc.pb.h>")
    list(APPEND needs reprise::grpc_proto)
    string(PREPEND name grpc_)
  endif()
  if(NOT TARGET reprise_${name})
    set(source ${CMAKE_BINARY_DIR}/${name}.cc)
    file(CONFIGURE OUTPUT ${source}
      CONTENT "// Precompiled headers need a target with a source.\n" @ONLY)
    add_library(reprise_${name} STATIC ${source})
    target_link_libraries(reprise_${name} PRIVATE ${needs})
    target_precompile_headers(reprise_${name} PRIVATE ${headers})
    if(kind STREQUAL test)
      target_compile_options(reprise_${name} PRIVATE -O0)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM reprise_${name})
endfunction()
