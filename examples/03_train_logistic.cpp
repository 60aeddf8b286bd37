// Variables keep their values between steps; an optimizer updates them by a gradient. Here logistic
// regression learns the function "a or b".
#include <troupe/troupe.hpp>

#include <cmath>
#include <iostream>

using namespace troupe;

int main() {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto labels = g.placeholder(dtype::f32, {-1, 1}, "labels");
  auto w = g.variable(tensor::from_values<float>({2, 1}, {0, 0}), "w");
  auto b = g.variable(0.0f, "b");
  auto prediction = sigmoid(matmul(x, w) + b);
  auto loss = -mean(labels * log(prediction) + (1 - labels) * log(1 - prediction));
  auto* train = gradient_descent{1.0f}.minimize(loss);

  auto s = session::local();
  s.run(g.initializer());
  std::vector<feed> table{{x, tensor::from_values<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1})},
                          {labels, tensor::from_values<float>({4, 1}, {0, 1, 1, 1})}};
  auto before = to_scalar<float>(s.fetch(loss, table));
  for (int i = 0; i < 500; ++i)
    s.run(train, table);
  auto after = to_scalar<float>(s.fetch(loss, table));
  std::cout << "the loss fell from " << std::round(before * 100) / 100
            << " to less than a tenth of it: " << std::boolalpha << (after < before / 10) << '\n'
            << "true where: " << s.fetch(greater(prediction, 0.5f), table) << '\n';
}

// Prints:
// the loss fell from 0.69 to less than a tenth of it: true
// true where: bool[4,1] {false, true, true, true}
