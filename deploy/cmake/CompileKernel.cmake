# cmake -DCOMMAND=nvcc;... -DREPORT=FILE -P CompileKernel.cmake
#
# Runs nvcc and keeps in REPORT what ptxas -v said of each kernel's registers,
# stack and shared memory. What a failing run said is shown.
execute_process(COMMAND ${COMMAND}
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${said}")
endif()
file(WRITE ${REPORT} "${said}")
