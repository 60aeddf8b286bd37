// The program `troupe`.
#include "troupe/api/cli/command_line.hpp"

int main(int argc, char** argv) { return troupe::cli::run_command_line(argc, argv); }
