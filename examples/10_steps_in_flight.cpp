// Hundreds of concurrent steps of one graph (white paper, Figure 9): each step takes a row when one
// is available, computes a gradient with the current variables, and updates them. A waiting step
// needs no thread.
#include <troupe/troupe.hpp>

#include <future>
#include <iomanip>
#include <iostream>

using namespace troupe;

constexpr int in_flight = 256, rounds = 40;

int main() {
  graph_builder g;
  auto rows = fifo_queue(g, {dtype::f32}, {.shapes = {{}}, .capacity = 1000}, "rows");
  auto x = queue_dequeue(rows, {dtype::f32})[0];
  auto slope = g.variable(0.0f, "slope"), offset = g.variable(0.0f, "offset");
  auto loss = square(slope * x + offset - (2.0f * x + 1.0f));
  auto* train = gradient_descent{0.002f}.minimize(loss);
  auto new_rows = g.placeholder(dtype::f32, {-1}, "new_rows");
  auto* enqueue = queue_enqueue_many(rows, {new_rows});

  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {train});
  std::vector<float> data;
  for (int i = 0; i < in_flight; ++i)
    data.push_back(static_cast<float>(i) / in_flight * 2 - 1);

  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<std::vector<tensor>>> steps;
    for (int i = 0; i < in_flight; ++i)
      steps.push_back(step.run_async());
    if (round == 0) {
      std::string expected = std::to_string(in_flight) + " dequeues wait", content;
      while (content.find(expected) == content.npos)
        for (const auto& entry : s.state_of().entries)
          if (entry.name == "rows")
            content = entry.content;
      std::cout << "rows: " << content << '\n';
    }
    s.run(enqueue, {{new_rows, tensor::vector(data)}}); // now all steps continue
    for (auto& pending : steps)
      pending.get();
  }
  std::cout << std::fixed << std::setprecision(1);
  std::cout << rounds * in_flight << " steps\n";
  std::cout << "y = " << to_scalar<float>(s.fetch(slope)) << " x + "
            << to_scalar<float>(s.fetch(offset)) << '\n';
}

// Prints:
// rows: 0 of 1000 elements, 256 dequeues wait
// 10240 steps
// y = 2.0 x + 1.0
