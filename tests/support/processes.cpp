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

// Ports below those that the kernel gives to connections, of which some other one would take a port
// before it is listened at. None comes twice soon.
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
  auto made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  auto bound = ::bind(made, reinterpret_cast<sockaddr*>(&at), sizeof(at)) == 0;
  ::close(made);
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
  cluster_spec made;
  for (auto port : free_ports(workers + ps)) {
    auto& job = made.jobs[made.jobs["worker"].size() < workers ? "worker" : "ps"];
    job.push_back(concat("127.0.0.1:", port));
  }
  return made;
}

std::unique_ptr<task> start_task(const cluster_spec& cluster, const task_name& self,
                                 std::chrono::milliseconds peer_timeout) {
  auto options = options_of_task(cluster, self);
  options.peer_timeout = peer_timeout;
  return start_task(std::move(options));
}

task_options options_of_task(const cluster_access& cluster, const task_name& self) {
  task_options made;
  made.ops = &library();
  made.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  made.cluster = cluster;
  made.self = self;
  made.inter_op_threads = 2;
  return made;
}

std::unique_ptr<task> start_task(task_options options) {
  auto made = task::start(std::move(options));
  if (!made)
    throw std::runtime_error{made.status().message()};
  return *std::move(made);
}

bool soon(const std::function<bool()>& holds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30} * patience_factor();
  while (std::chrono::steady_clock::now() < end)
    if (holds())
      return true;
  return false;
}

std::unique_ptr<client> connect_to(const cluster_spec& cluster,
                                   std::chrono::milliseconds peer_timeout,
                                   const std::string& container, const program_options& programs) {
  auto made = client::connect(cluster, {.ops = &library(),
                                        .make_devices = {},
                                        .inter_op_threads = 2,
                                        .container = container,
                                        .programs = programs,
                                        .peer_timeout = peer_timeout});
  if (!made)
    throw std::runtime_error{made.status().message()};
  return *std::move(made);
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
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  std::string program = cluster_task_program;
  arguments.insert(arguments.begin(), {program, self.job, std::to_string(self.task)});
  std::vector<char*> words;
  for (auto& one : arguments)
    words.push_back(one.data());
  words.push_back(nullptr);
  int problem = ::posix_spawn(&pid_, program.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(out[1]);
  std::string line;
  pollfd wait{out[0], POLLIN, 0};
  for (char c = 0; problem == 0 && c != '\n';) {
    if (::poll(&wait, 1, 20'000 * patience_factor()) != 1 || ::read(out[0], &c, 1) != 1)
      break;
    line += c;
  }
  ::close(out[0]);
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
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped,
           WSTOPPED | WEXITED | WNOWAIT); // it runs on until then
}

int task_process::terminate(std::chrono::milliseconds patience) {
  ::kill(pid_, SIGTERM);
  auto end = std::chrono::steady_clock::now() + patience;
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
  footprint found;
  std::ifstream status{folder / "status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:"))
      found.resident_kib = std::stoll(line.substr(6));
    else if (line.starts_with("Threads:"))
      found.threads = std::stoi(line.substr(8));
  }
  for (const auto& one : std::filesystem::directory_iterator{folder / "fd"}) {
    (void)one;
    ++found.descriptors;
  }
  return found;
}

} // namespace troupe::test
