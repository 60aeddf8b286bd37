// One model on two tasks, which is too large for either (white paper, Figure 8), and several steps
// of it at once, so that each task works at one batch while the other works at another (Figure 9).
//
//     /job:worker/task:0              /job:worker/task:1
//     x ─▶ hidden = tanh(x w) ──────▶ guess = hidden v ─▶ loss
//          w ◀── gradient ◀────────── gradient ──▶ v
//
// The first argument is the path of the `troupe` command; the program starts a cluster with it.
#include <troupe/troupe.hpp>

#include <csignal>
#include <deque>
#include <fcntl.h>
#include <future>
#include <iostream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;

// On one machine, for this example, on fixed ports.
constexpr const char* cluster = R"({"worker": ["127.0.0.1:17653", "127.0.0.1:17654"]})";
constexpr size_t at_once = 4;
constexpr int steps = 2000;

pid_t start(const char* command, const char* task) {
  const char* arguments[] = {command,     "worker", "--job", "worker", "--task", task,
                             "--cluster", cluster,  "--log", "none",   nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = -1;
  posix_spawn(&process, command, &quiet, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&quiet);
  return process;
}

// 32 points, and how far each is from the origin.
std::vector<tensor> batch(int n) {
  auto x = *tensor::make(dtype::f32, {32, 2}), y = *tensor::make(dtype::f32, {32, 1});
  for (int i = 0; i < 32; ++i) {
    auto a = static_cast<float>((n * 37 + i * 11) % 101) / 50.0f - 1.0f;
    auto b = static_cast<float>((n * 53 + i * 29) % 103) / 51.0f - 1.0f;
    x.data<float>()[2 * i] = a;
    x.data<float>()[2 * i + 1] = b;
    y.data<float>()[i] = a * a + b * b;
  }
  return {x, y};
}

void run() {
  graph_builder g;
  g.set_random_seed(7);
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x"), y = g.placeholder(dtype::f32, {-1, 1}, "y");
  edge hidden, loss;
  {
    auto on = g.on("/job:worker/task:0"); // variables, too, and what updates them
    hidden = dense(g, x, 64, {.activation = [](edge of) { return tanh(of); }});
  }
  {
    auto on = g.on("/job:worker/task:1");
    loss = mean_squared_error(dense(g, hidden, 1), y);
  }
  auto* train = adam{0.003}.minimize(loss);
  for (const auto& one : g.variables())
    if (one.name().find("weights") != std::string::npos &&
        one.name().find("/mean") == std::string::npos)
      std::cout << one.name() << " on " << one.ref.node->device() << '\n';

  auto s = session::connect(cluster);
  s.run(g.initializer());
  auto step = s.prepare({x, y}, {loss}, {train});
  std::deque<std::future<std::vector<tensor>>> under_way;
  float recent = 1; // of the last batches, on average: steps that overlap have noisy losses
  auto end_first = [&] {
    recent += (to_scalar<float>(under_way.front().get()[0]) - recent) / 50;
    under_way.pop_front();
  };
  for (int n = 0; n < steps; ++n) {
    if (under_way.size() == at_once)
      end_first();
    under_way.push_back(step.run_async(batch(n)));
  }
  while (!under_way.empty())
    end_first();
  std::cout << steps << " steps, " << at_once << " at once\n"
            << (recent < 0.1f ? "it has learnt" : "it has not learnt") << '\n';
}

int main(int, char** arguments) {
  const pid_t processes[] = {start(arguments[1], "0"), start(arguments[1], "1")};
  try {
    run();
  } catch (const error& e) {
    std::cout << e.what() << '\n';
  }
  for (auto process : processes) {
    kill(process, SIGTERM);
    waitpid(process, nullptr, 0);
  }
}

// Prints:
// dense/weights on /job:worker/task:0
// dense_1/weights on /job:worker/task:1
// 2000 steps, 4 at once
// it has learnt
