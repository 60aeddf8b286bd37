// Errors name the node, the line that built it, and the expected input. Their kind tells how to
// react.
#include <troupe/troupe.hpp>

#include <iostream>

using namespace troupe;

template <class Body>
void show(Body&& body) {
  try {
    body();
  } catch (const error& problem) {
    std::cout << "- " << to_string(problem.kind()) << ": " << problem.what() << '\n';
  }
}

int main() {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}, "x");
  auto w = g.variable(tensor::from_values<float>({2, 2}, {1, 2, 3, 4}), "w");

  show([&] { matmul(x, w, "product"); });
  show([&] { x + g.constant({1, 2, 3}); });
  show([&] { g.placeholder(dtype::f32, {}, "x"); });

  auto s = session::local();
  show([&] { s.fetch(x * 2); });
  show([&] { s.fetch(x * 2, {{x, {1.0f, 2.0f}}}); });
  show([&] { s.fetch(w); });
}

// clang-format off
// Prints:
// - invalid_argument: MatMul 'product' (05_errors.cpp:23): the inner extents 3 of a [?,3] and 2 of b [2,2] differ
// - invalid_argument: Add 'Add' (05_errors.cpp:24): input y must be f32 like input x, got i32 from 'Const_1'
// - already_exists: Placeholder 'x' (05_errors.cpp:25): the name 'x' is used already by Placeholder 'x' (05_errors.cpp:20)
// - invalid_argument: session::run (05_errors.cpp:28): Placeholder 'x' (05_errors.cpp:20): must be fed with f32[?,3], and is not
// - invalid_argument: session::run (05_errors.cpp:29): Placeholder 'x' (05_errors.cpp:20): must be fed with f32[?,3], got f32[2]
// - failed_precondition: session::run (05_errors.cpp:30): _Fetch '_fetch_0' (05_errors.cpp:21): variable 'w' is uninitialized: run its initializer, or restore it, before it is used
