// A prepared step is looked up and compiled once; each run then costs microseconds. Several threads
// may run it at the same time.
#include <troupe/troupe.hpp>

#include <iostream>
#include <thread>

using namespace troupe;

int main() {
  graph_builder g;
  auto amount = g.placeholder(dtype::i64, shape{}, "amount");
  auto total = g.variable(int64_t{0}, "total");
  auto add = assign_add(total, amount);

  auto s = session::local();
  s.run(g.initializer());
  auto deposit = s.prepare({amount}, {}, {add});
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 1; i <= 4; ++i)
      threads.emplace_back([&deposit, i] {
        for (int n = 0; n < 1000; ++n)
          deposit.run({tensor::scalar(i)});
      });
  }
  std::cout << "1000 * (1 + 2 + 3 + 4) = " << to_scalar<int64_t>(s.fetch(total)) << '\n';
}

// Prints:
// 1000 * (1 + 2 + 3 + 4) = 10000
