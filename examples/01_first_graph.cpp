// A graph describes a computation; a session runs it, with values for its placeholders.
//
//     x ──┐
//         ├─ MatMul ── Add ── Relu ── y
//     w ──┘             │
//     0.5 ──────────────┘
#include <troupe/troupe.hpp>

#include <iostream>

using namespace troupe;

int main() {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x"); // any number of rows
  auto w = g.constant(tensor::from_values<float>({2, 2}, {1, -1, 2, -2}), "w");
  auto y = relu(matmul(x, w) + 0.5f, "y");
  std::cout << "y is " << y.type() << y.dims() << '\n';

  auto s = session::local();
  std::cout << s.fetch(y, {{x, tensor::from_values<float>({1, 2}, {1, 1})}}) << '\n';
  std::cout << s.fetch(y, {{x, tensor::from_values<float>({2, 2}, {0, 0, -1, -1})}}) << '\n';
}

// Prints:
// y is f32[?,2]
// f32[1,2] {3.5, 0}
// f32[2,2] {0.5, 0.5, 0, 3.5}
