// The smallest program outside Troupe's tree that uses an installed Troupe.
#include <troupe/troupe.hpp>

#include <iostream>
#include <tuple>

// Names that Troupe uses internally are free for programs with `using namespace troupe`.
using namespace troupe;
struct actor {};
struct buffer_pool {};
struct container {};
struct device {};
struct executor {};
struct instance {};
struct kernel_context {};
struct master {};
struct placement {};
struct program {};
struct queue {};
struct region {};
struct token {};
struct variable {};
struct worker {};

int main() {
  [[maybe_unused]] std::tuple<actor, buffer_pool, container, device, executor, instance,
                              kernel_context, master, placement, program, queue, region, token,
                              variable, worker>
      own_types;
  troupe::graph_builder g;
  auto x = g.placeholder(troupe::dtype::f32, {-1}, "x");
  auto s = troupe::session::local();
  try {
    s.fetch(x * 2 + 1, {{x, {1, 2}}, {x, {3, 4}}});
  } catch (const troupe::error& problem) { // thrown by the shared library
    std::cout << "as expected: " << problem.what() << '\n';
  }
  std::cout << "troupe " << troupe::library_version << ": "
            << s.fetch(x * 2 + 1, {{x, {1.0f, 2.0f}}}) << '\n';
}
