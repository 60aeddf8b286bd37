# Runs during installation: installs files that contain the installation's path, and files that the program writes.
#   source: the sources; work: a temporary folder; bin, man, data: the target folders in the prefix;
#   program: the built `troupe`, if this machine can run it

function(installed_folder variable folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE OUTPUT_VARIABLE folder)
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

installed_folder(bin "${bin}")
installed_folder(man "${man}")
installed_folder(data "${data}")
installed_folder(units lib/systemd/system)

file(READ "${source}/deploy/systemd/troupe@.service" unit)
string(REPLACE "/usr/bin/troupe" "${bin}/troupe" unit "${unit}")
file(WRITE "${work}/troupe@.service" "${unit}")
file(INSTALL "${work}/troupe@.service" DESTINATION "${units}")

# install_output(FOLDER NAME ARGUMENTS...)
function(install_output folder name)
  execute_process(COMMAND "${program}" ${ARGN}
    OUTPUT_FILE "${work}/${name}" RESULT_VARIABLE failed ERROR_VARIABLE error)
  if(failed)
    message(FATAL_ERROR "${program} ${ARGN} failed with ${failed}: ${error}")
  endif()
  file(INSTALL "${work}/${name}" DESTINATION "${folder}")
endfunction()

if(program)
  install_output("${man}/man1" troupe.1 manual)
  # bash looks for the file by the name of the command.
  file(MAKE_DIRECTORY "${work}/completions")
  install_output("${data}/bash-completion/completions" completions/troupe completion bash)
endif()
