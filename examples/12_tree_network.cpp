// A network with the shape of its data: it evaluates an expression by calling itself for both
// operands, and learns the meaning of + and *, modulo 3. Gradients flow back through all calls. The
// training data has expressions of depth 3 at most.
//
//     (1 + 2) * 2             *
//                           ╱   ╲        a number is a vector; an operator is a small network
//                          +     2       that makes one vector of two
//                        ╱   ╲
//                       1     2
#include <troupe/troupe.hpp>

#include <iostream>
#include <random>

using namespace troupe;

constexpr int32_t modulus = 3, plus = modulus; // symbols: the numbers below 3, then + and *
constexpr int batch_size = 16;
constexpr int64_t vector_size = 8; // of the vector of an expression

// Expressions as a list of nodes: each has a symbol, and the indices of its operands.
struct expressions {
  std::vector<int32_t> symbols, left, right, roots, values;

  // Adds a random expression of at most this depth, and returns its value.
  int32_t draw(int depth, std::mt19937& random) {
    auto index = symbols.size();
    for (auto* column : {&symbols, &left, &right})
      column->push_back(0);
    if (depth == 0 || random() % 4 == 0)
      return symbols[index] = static_cast<int32_t>(random() % modulus);
    symbols[index] = plus + static_cast<int32_t>(random() % 2);
    left[index] = static_cast<int32_t>(symbols.size());
    auto a = draw(depth - 1, random);
    right[index] = static_cast<int32_t>(symbols.size());
    auto b = draw(depth - 1, random);
    return (symbols[index] == plus ? a + b : a * b) % modulus;
  }
  void draw_root(int depth, std::mt19937& random) {
    roots.push_back(static_cast<int32_t>(symbols.size()));
    values.push_back(draw(depth, random));
  }
  std::vector<tensor> feeds() const {
    return {tensor::vector(symbols), tensor::vector(left), tensor::vector(right),
            tensor::vector(roots), tensor::vector(values)};
  }
};

// A function that computes the vector of the expression with an index, its first argument. A
// recursive function captures nothing: all that it uses is an argument.
auto define_meaning(graph_builder& g, const std::vector<edge>& arguments) {
  return define_recursive(
      g, "meaning", {arguments.begin(), arguments.end()}, {dtype::f32}, [&](auto& self, auto& v) {
        auto symbol = gather(v[1], v[0]);
        auto operand_meaning = [&](edge side) {
          auto operand_arguments = v;
          operand_arguments[0] = gather(side, v[0]);
          return ensure_shape(call(g, self, operand_arguments)[0], {1, vector_size});
        };
        return std::vector<edge>{cond(
            less(symbol, modulus), [&] { return gather(v[4], expand_dims(symbol, 0)); },
            [&] {
              auto operands = concatenate({operand_meaning(v[2]), operand_meaning(v[3])}, 1);
              auto operator_index = symbol - plus;
              return tanh(matmul(tanh(matmul(operands, gather(v[5], operator_index))),
                                 gather(v[6], operator_index)));
            })};
      });
}

// The share of expressions of a depth whose value the network predicts.
double correct_share(step& evaluate, int depth, std::mt19937& random) {
  int correct = 0, tested = 0;
  while (tested < 320) {
    expressions samples;
    for (int i = 0; i < batch_size; ++i)
      samples.draw_root(depth, random);
    auto predicted = evaluate.run(samples.feeds())[0];
    for (auto value : samples.values)
      correct += predicted.data<int64_t>()[tested++ % batch_size] == value;
  }
  return static_cast<double>(correct) / tested;
}

int main() {
  constexpr int steps = 1500;
  constexpr int64_t classes = modulus, operators = 2, hidden = 32, pair_size = 2 * vector_size;
  graph_builder g;
  g.set_random_seed(3);
  auto vectors = g.variable(truncated_normal(g, {classes, vector_size}, dtype::f32), "vectors");
  auto inner =
      g.variable(truncated_normal(g, {operators, pair_size, hidden}, dtype::f32) * 0.4f, "inner");
  auto outer =
      g.variable(truncated_normal(g, {operators, hidden, vector_size}, dtype::f32) * 0.3f, "outer");
  auto answer =
      g.variable(truncated_normal(g, {vector_size, classes}, dtype::f32) * 0.5f, "answer");

  auto symbols = g.placeholder(dtype::i32, {-1}, "symbols");
  auto left = g.placeholder(dtype::i32, {-1}, "left"),
       right = g.placeholder(dtype::i32, {-1}, "right");
  auto roots = g.placeholder(dtype::i32, {batch_size}, "roots");
  auto values = g.placeholder(dtype::i32, {batch_size}, "values");

  std::vector<edge> arguments{g.constant(0), symbols, left, right, vectors, inner, outer};
  auto meaning = define_meaning(g, arguments);
  std::vector<edge> meanings;
  for (const auto& root : unpack(roots, batch_size)) {
    arguments[0] = root;
    meanings.push_back(ensure_shape(call(g, meaning, arguments)[0], {1, vector_size}));
  }
  auto logits = matmul(concatenate(meanings, 0), answer);
  auto loss = softmax_loss(logits, values);
  auto* train = adam{0.01f}.minimize(loss);

  auto s = session::local();
  s.run(g.initializer());
  std::mt19937 random{1};
  auto train_step = s.prepare({symbols, left, right, roots, values}, {}, {train});
  for (int step = 0; step < steps; ++step) {
    expressions samples;
    for (int i = 0; i < batch_size; ++i)
      samples.draw_root(1 + i % 3, random);
    train_step.run(samples.feeds());
  }

  auto evaluate = s.prepare({symbols, left, right, roots, values}, {arg_max(logits, 1)}, {});
  for (int depth : {1, 3, 6}) {
    std::cout << "up to " << depth << " deep: "
              << (correct_share(evaluate, depth, random) > 0.95 ? "more than 95 %" : "too few")
              << " are right\n";
  }
}

// Prints:
// up to 1 deep: more than 95 % are right
// up to 3 deep: more than 95 % are right
// up to 6 deep: more than 95 % are right
