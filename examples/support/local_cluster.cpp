#include "examples/support/local_cluster.hpp"

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

/// Ports that were free a moment ago: all are held until all are known, so that they differ.
std::vector<int> free_ports(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(one);
    if (one < 0 || bind(one, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(one, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      break;
    ports.push_back(ntohs(address.sin_port));
  }
  for (auto one : sockets)
    if (one >= 0)
      close(one);
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
    throw std::runtime_error{command.string() + " is not there; build the target troupe_cli"};
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
  // Between fork and exec only calls are allowed that are safe in a signal handler.
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
            0); // Ctrl-C is for the program, which then ends its tasks when it needs them no more
    auto nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
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
