// Model parallelism: one model on two tasks (white paper, Figure 8), with several concurrent steps,
// so that the tasks work on different batches at the same time (Figure 9).
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

// The cluster of this example: one machine, fixed ports.
constexpr const char* cluster = R"({"worker": ["127.0.0.1:17653", "127.0.0.1:17654"]})";
constexpr size_t concurrent_steps = 4;
constexpr int steps = 2000;

pid_t start(const char* command, const char* task) {
  const char* arguments[] = {command,     "worker", "--job", "worker", "--task", task,
                             "--cluster", cluster,  "--log", "none",   nullptr};
  posix_spawn_file_actions_t file_actions;
  posix_spawn_file_actions_init(&file_actions);
  posix_spawn_file_actions_addopen(&file_actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = -1;
  posix_spawn(&process, command, &file_actions, nullptr, const_cast<char* const*>(arguments),
              environ);
  posix_spawn_file_actions_destroy(&file_actions);
  return process;
}

// 32 points, with their squared distances from the origin.
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
    auto on = g.on("/job:worker/task:0"); // also the variables and their updates
    hidden = dense(g, x, 64, {.activation = [](edge values) { return tanh(values); }});
  }
  {
    auto on = g.on("/job:worker/task:1");
    loss = mean_squared_error(dense(g, hidden, 1), y);
  }
  auto* train = adam{0.003}.minimize(loss);
  for (const auto& variable : g.variables())
    if (variable.name().find("weights") != std::string::npos &&
        variable.name().find("/mean") == std::string::npos)
      std::cout << variable.name() << " on " << variable.ref.node->device() << '\n';

  auto s = session::connect(cluster);
  s.run(g.initializer());
  auto step = s.prepare({x, y}, {loss}, {train});
  std::deque<std::future<std::vector<tensor>>> running_steps;
  float recent = 1; // moving average of losses: those of overlapping steps are noisy
  auto wait_for_first = [&] {
    recent += (to_scalar<float>(running_steps.front().get()[0]) - recent) / 50;
    running_steps.pop_front();
  };
  for (int n = 0; n < steps; ++n) {
    if (running_steps.size() == concurrent_steps)
      wait_for_first();
    running_steps.push_back(step.run_async(batch(n)));
  }
  while (!running_steps.empty())
    wait_for_first();
  std::cout << steps << " steps, " << concurrent_steps << " at once\n"
            << (recent < 0.1f ? "the loss is below 0.1" : "the loss is not below 0.1") << '\n';
}

int main(int, char** arguments) {
  const pid_t processes[] = {start(arguments[1], "0"), start(arguments[1], "1")};
  try {
    run();
  } catch (const error& problem) {
    std::cout << problem.what() << '\n';
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
// the loss is below 0.1
