#include "tests/support/processes.hpp"

#include "tests/support/paths.hpp"
#include "tests/support/watchdog.hpp"

#include "troupe/api/internal/library.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace troupe::test {

namespace {

// Ports below the kernel's ephemeral range, from which another connection could take a port before
// a test listens at it. A port is not returned again soon.
uint16_t next_port() {
  constexpr unsigned first = 10'000;
  static const unsigned end = [] {
    unsigned least = 0;
    std::ifstream{"/proc/sys/net/ipv4/ip_local_port_range"} >> least;
    return least > first + 1000 && least <= 65'535 ? least : 32'768;
  }();
  static std::atomic<unsigned> next{std::random_device{}()};
  return static_cast<uint16_t>(first + next++ % (end - first));
}

bool is_free(uint16_t port) {
  auto descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  socket_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_address.sin_port = htons(port);
  auto bound =
      ::bind(descriptor, reinterpret_cast<sockaddr*>(&socket_address), sizeof(socket_address)) == 0;
  ::close(descriptor);
  return bound;
}

} // namespace

std::vector<uint16_t> free_ports(size_t count) {
  std::vector<uint16_t> ports;
  for (int tries = 0; ports.size() < count; ++tries) {
    if (tries == 100'000)
      throw std::runtime_error{"no free port"};
    if (auto port = next_port(); is_free(port))
      ports.push_back(port);
  }
  return ports;
}

cluster_spec make_cluster(size_t workers, size_t ps) {
  cluster_spec spec;
  for (auto port : free_ports(workers + ps)) {
    auto& job = spec.jobs[spec.jobs["worker"].size() < workers ? "worker" : "ps"];
    job.push_back(concat("127.0.0.1:", port));
  }
  return spec;
}

std::unique_ptr<task> start_task(const cluster_spec& cluster, const task_name& self,
                                 std::chrono::milliseconds peer_timeout) {
  auto options = options_of_task(cluster, self);
  options.peer_timeout = peer_timeout;
  return start_task(std::move(options));
}

task_options options_of_task(const cluster_access& cluster, const task_name& self) {
  task_options options;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.cluster = cluster;
  options.self = self;
  options.inter_op_threads = 2;
  return options;
}

std::unique_ptr<task> start_task(task_options options) {
  auto started = task::start(std::move(options));
  if (!started)
    throw std::runtime_error{started.status().message()};
  return *std::move(started);
}

bool becomes_true(const std::function<bool()>& is_true) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30} * timeout_factor();
  while (std::chrono::steady_clock::now() < end)
    if (is_true())
      return true;
  return false;
}

std::unique_ptr<client> connect_to(const cluster_spec& cluster,
                                   std::chrono::milliseconds peer_timeout,
                                   const std::string& container, const program_options& programs) {
  auto connected = client::connect(cluster, {.ops = &library(),
                                             .make_devices = {},
                                             .inter_op_threads = 2,
                                             .container = container,
                                             .programs = programs,
                                             .peer_timeout = peer_timeout});
  if (!connected)
    throw std::runtime_error{connected.status().message()};
  return *std::move(connected);
}

task_process::task_process(const cluster_spec& cluster, const task_name& self,
                           std::chrono::milliseconds peer_timeout) {
  start(self, {to_json(cluster), std::to_string(peer_timeout.count())});
}

task_process::task_process(const std::string& seeds, const task_name& self,
                           const std::string& listen, std::chrono::milliseconds peer_timeout) {
  start(self, {concat("join:", seeds), std::to_string(peer_timeout.count()), listen});
}

void task_process::start(const task_name& self, std::vector<std::string> arguments) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipe_ends[1], STDOUT_FILENO);
  std::string program = cluster_task_program;
  arguments.insert(arguments.begin(), {program, self.job, std::to_string(self.task)});
  std::vector<char*> words;
  for (auto& argument : arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  int problem = ::posix_spawn(&pid_, program.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(pipe_ends[1]);
  std::string line;
  pollfd wait{pipe_ends[0], POLLIN, 0};
  for (char c = 0; problem == 0 && c != '\n';) {
    if (::poll(&wait, 1, 20'000 * timeout_factor()) != 1 || ::read(pipe_ends[0], &c, 1) != 1)
      break;
    line += c;
  }
  ::close(pipe_ends[0]);
  if (!line.starts_with("ready "))
    throw std::runtime_error{concat("cannot start ", program, " as ", self)};
}

task_process::~task_process() {
  if (pid_ > 0)
    kill();
}

void task_process::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void task_process::freeze() {
  ::kill(pid_, SIGSTOP);
  siginfo_t stopped{};
  // It runs on until then.
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

int task_process::terminate(std::chrono::milliseconds timeout) {
  ::kill(pid_, SIGTERM);
  auto end = std::chrono::steady_clock::now() + timeout;
  int outcome = 0;
  while (::waitpid(pid_, &outcome, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end)
      return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  pid_ = 0;
  return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : 128 + WTERMSIG(outcome);
}

footprint footprint_of(pid_t process) {
  auto folder = std::filesystem::path{"/proc"} / std::to_string(process);
  footprint usage;
  std::ifstream status{folder / "status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:"))
      usage.resident_kib = std::stoll(line.substr(6));
    else if (line.starts_with("Threads:"))
      usage.threads = std::stoi(line.substr(8));
  }
  for (const auto& descriptor_entry : std::filesystem::directory_iterator{folder / "fd"}) {
    (void)descriptor_entry;
    ++usage.descriptors;
  }
  return usage;
}

} // namespace troupe::test
