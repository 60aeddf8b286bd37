#include "examples/support/local_cluster.hpp"
// Starts and stops the processes of a local cluster.

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace examples {
namespace {

using namespace std::chrono_literals;

/// Returns free ports. All sockets stay open until all ports are known, so that the ports differ.
std::vector<int> free_ports(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(descriptor);
    if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      break;
    ports.push_back(ntohs(address.sin_port));
  }
  for (auto descriptor : sockets)
    if (descriptor >= 0)
      close(descriptor);
  if (ports.size() != static_cast<size_t>(count))
    throw std::runtime_error{"no free port on the loopback interface"};
  return ports;
}

std::string addresses(const int* ports, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i ? ", " : "") + ("\"127.0.0.1:" + std::to_string(ports[i]) + '"');
  return '[' + list + ']';
}

bool ended(pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; }

} // namespace

local_cluster::local_cluster(int workers, int parameter_servers) {
  auto command = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "troupe";
  if (!std::filesystem::exists(command))
    throw std::runtime_error{command.string() + " does not exist; build the target troupe_cli"};
  auto ports = free_ports(workers + parameter_servers);
  spec_ = "{\"worker\": " + addresses(ports.data(), workers) +
          ", \"ps\": " + addresses(ports.data() + workers, parameter_servers) + '}';
  try {
    for (int i = 0; i < parameter_servers; ++i)
      start(command.string(), "ps", i);
    for (int i = 0; i < workers; ++i)
      start(command.string(), "worker", i);
  } catch (...) {
    stop();
    throw;
  }
}

void local_cluster::start(const std::string& command, const std::string& job, int task) {
  auto number = std::to_string(task);
  // Between fork and exec only async-signal-safe calls are allowed.
  const char* arguments[] = {command.c_str(), "worker",       "--job",     job.c_str(),
                             "--task",        number.c_str(), "--cluster", spec_.c_str(),
                             "--log",         "none",         nullptr};
  auto parent = getpid();
  auto process = fork();
  if (process < 0)
    throw std::runtime_error{"cannot start another process"};
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      _exit(1);
    setpgid(0,
            0); // Ctrl-C must not end the tasks: the program ends them when it no longer needs them
    auto null_device = open("/dev/null", O_WRONLY);
    dup2(null_device, STDOUT_FILENO);
    execv(command.c_str(), const_cast<char* const*>(arguments));
    _exit(127);
  }
  processes_.push_back(process);
}

local_cluster::~local_cluster() { stop(); }

void local_cluster::stop() {
  for (auto process : processes_)
    kill(process, SIGTERM);
  for (auto deadline = std::chrono::steady_clock::now() + 3s;
       !processes_.empty() && std::chrono::steady_clock::now() < deadline;) {
    std::erase_if(processes_, ended);
    std::this_thread::sleep_for(10ms);
  }
  for (auto process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  processes_.clear();
}

} // namespace examples
