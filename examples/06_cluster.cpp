// One graph on several processes: nodes run on the tasks that the program names, and the runtime
// sends tensors between them.
//
//     /job:ps/task:0          /job:worker/task:0         this process
//     total (variable) ◀───── numbers summed up ◀─────── numbers
//
// The first argument is the path of the `troupe` command; the program starts a cluster with it.
#include <troupe/troupe.hpp>

#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;

// The cluster of this example: one machine, fixed ports.
constexpr const char* cluster = R"({"ps": ["127.0.0.1:17650"], "worker": ["127.0.0.1:17651"]})";

pid_t start(const char* command, const char* job) {
  const char* arguments[] = {command,     "worker", "--job", job,    "--task", "0",
                             "--cluster", cluster,  "--log", "none", nullptr};
  posix_spawn_file_actions_t file_actions;
  posix_spawn_file_actions_init(&file_actions);
  posix_spawn_file_actions_addopen(&file_actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = -1;
  posix_spawn(&process, command, &file_actions, nullptr, const_cast<char* const*>(arguments),
              environ);
  posix_spawn_file_actions_destroy(&file_actions);
  return process;
}

void run() {
  graph_builder g;
  auto numbers = g.placeholder(dtype::f32, {-1}, "numbers");
  variable_handle total;
  {
    auto on = g.on("/job:ps/task:0");
    total = g.variable(0.0f, "total");
  }
  edge partial_sum;
  {
    auto on = g.on("/job:worker/task:0");
    partial_sum = sum(numbers);
  }
  auto add = assign_add(total, partial_sum); // runs on the device of the variable

  auto s = session::connect(cluster); // waits for the tasks when it needs them
  s.run(g.initializer());
  s.run(add.node, {{numbers, {1.0f, 2.0f, 3.0f}}});
  s.run(add.node, {{numbers, {4.0f}}});
  std::cout << "total: " << s.fetch(total) << '\n';
  for (const auto& device : s.devices())
    std::cout << device.name << '\n';
}

int main(int, char** arguments) {
  const pid_t processes[] = {start(arguments[1], "ps"), start(arguments[1], "worker")};
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
// total: f32[] {10}
// /job:ps/task:0/device:cpu:0
// /job:worker/task:0/device:cpu:0
