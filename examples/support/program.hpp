// Common parts of programs: they parse options, and report errors in one line.
#pragma once
#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>
#include <type_traits>

namespace examples {

/// Adds an option that is an integer within bounds; its default is its present value.
template <class T>
CLI::Option* add_count(CLI::App& app, const char* name, T& number, const char* help,
                       std::type_identity_t<T> minimum = 1,
                       std::type_identity_t<T> maximum = 1'000'000'000) {
  return app.add_option(name, number, help)
      ->capture_default_str()
      ->check(CLI::Range(minimum, maximum));
}

/// Parses the options, then calls `work`. Returns the exit code of the process.
template <class Work>
int run_program(CLI::App& app, int argc, char** argv, Work work) {
  CLI11_PARSE(app, argc, argv);
  try {
    work();
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << app.get_name() << ": " << problem.what() << '\n';
    return 1;
  }
}

} // namespace examples
