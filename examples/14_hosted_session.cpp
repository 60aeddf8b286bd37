// A session whose master runs in a task: the client sends its graph once, and then one message for
// each step, to one address. The task manages placement and the communication with other tasks.
//
//     this program ──── one connection ────▶ /job:worker/task:0 ────▶ /job:ps/task:0
//       feeds, fetches                        master                   total (variable)
#include <troupe/troupe.hpp>

#include <iostream>

using namespace troupe;

int main() {
  // A cluster in this process, on fixed ports.
  constexpr const char* cluster = R"({"ps": ["127.0.0.1:17655"], "worker": ["127.0.0.1:17656"]})";
  auto ps = server::start(cluster, {.job = "ps"});
  auto worker = server::start(cluster, {.job = "worker"});

  graph_builder g;
  auto numbers = g.placeholder(dtype::f32, {-1}, "numbers");
  variable_handle total;
  {
    auto on = g.on("/job:ps/task:0");
    total = g.variable(0.0f, "total");
  }
  auto add = assign_add(total, sum(numbers));

  // The first of these tasks that accepts the session hosts it; if it is lost, another one does.
  auto s =
      session::connect("master:127.0.0.1:17656,127.0.0.1:17655", {.recovery = {.max_retries = 3}});
  s.run(g.initializer());
  auto step = s.prepare({numbers}, {add});
  step.run({tensor::vector<float>({1, 2, 3})});
  std::cout << "total: " << step.run({tensor::vector<float>({4})})[0] << '\n';
}

// Prints:
// total: f32[] {10}
