// What programs do around their work: read options, and say in a line what went wrong.
#pragma once
#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>
#include <type_traits>

namespace examples {

/// An option that is a whole number within bounds; its default is what it is now.
template <class T>
CLI::Option* add_count(CLI::App& to, const char* name, T& number, const char* what,
                       std::type_identity_t<T> least = 1,
                       std::type_identity_t<T> most = 1'000'000'000) {
  return to.add_option(name, number, what)->capture_default_str()->check(CLI::Range(least, most));
}

/// Reads the options of an app that has a name, then works. Returns the exit code of the process.
template <class Work>
int run_program(CLI::App& app, int argc, char** argv, Work work) {
  CLI11_PARSE(app, argc, argv);
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    std::cerr << app.get_name() << ": " << e.what() << '\n';
    return 1;
  }
}

} // namespace examples
