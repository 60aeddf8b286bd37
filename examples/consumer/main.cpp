// The smallest program outside Troupe's tree that uses an installed Troupe.
#include <troupe/troupe.hpp>

#include <iostream>

int main() {
  troupe::graph_builder g;
  auto x = g.placeholder(troupe::dtype::f32, {-1}, "x");
  auto s = troupe::session::local();
  try {
    s.fetch(x * 2 + 1, {{x, {1, 2}}, {x, {3, 4}}});
  } catch (const troupe::error& e) { // crosses the border of the library
    std::cout << "as it should be: " << e.what() << '\n';
  }
  std::cout << "troupe " << troupe::library_version << ": "
            << s.fetch(x * 2 + 1, {{x, {1.0f, 2.0f}}}) << '\n';
}
