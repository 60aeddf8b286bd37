// Hundreds of steps of one graph at once (white paper, Figure 9): each takes a row as soon as there
// is one, computes a gradient with the variables as it finds them, and updates them as soon as it
// can. None needs a thread while it waits.
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
  auto more = g.placeholder(dtype::f32, {-1}, "more");
  auto* put = queue_enqueue_many(rows, {more});

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
      std::string waiting = std::to_string(in_flight) + " dequeues wait", found;
      while (found.find(waiting) == found.npos)
        for (const auto& one : s.state_of().entries)
          if (one.name == "rows")
            found = one.content;
      std::cout << "rows: " << found << '\n';
    }
    s.run(put, {{more, tensor::vector(data)}}); // now all of them go on
    for (auto& one : steps)
      one.get();
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
