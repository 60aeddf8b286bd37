// Gradients are edges like any other: the graph grows by the nodes that compute them.
#include <troupe/troupe.hpp>

#include <iostream>

using namespace troupe;

int main() {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {-1}, "x");
  auto y = square(x) * x + 2 * x; // x^3 + 2x
  auto first = g.gradients(y, {x})[0];
  auto second = g.gradients(first, {x})[0];

  auto s = session::local();
  auto values = s.run({{x, {0.0, 1.0, 2.0}}}, {y, first, second});
  std::cout << "y      " << values[0] << '\n'
            << "dy/dx  " << values[1] << '\n'
            << "d2y/dx " << values[2] << '\n';
}

// Prints:
// y      f64[3] {0, 3, 12}
// dy/dx  f64[3] {2, 5, 14}
// d2y/dx f64[3] {0, 6, 12}
