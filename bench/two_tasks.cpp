#include "bench/two_tasks.hpp"

#include "troupe/troupe.hpp"

#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace troupe::bench {
namespace {

int free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto held = bind(one, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
              getsockname(one, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(one);
  if (!held)
    throw error{failure(error_kind::unavailable, "no free port on the loopback interface")};
  return ntohs(address.sin_port);
}

} // namespace

two_tasks::two_tasks(bool near_memory, int count) {
  for (int i = 0; i < count; ++i)
    cluster_ += concat(i ? ", " : "{\"worker\": [", "\"127.0.0.1:", free_port(), '"');
  cluster_ += "]}";
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    const char* arguments[] = {"troupe_bench",
                               "--serve-task",
                               cluster_.c_str(),
                               number.c_str(),
                               near_memory ? nullptr : "by_socket",
                               nullptr};
    pid_t process = 0;
    if (posix_spawn(&process, "/proc/self/exe", nullptr, nullptr,
                    const_cast<char* const*>(arguments), environ) == 0)
      processes_.push_back(process);
  }
}

two_tasks::~two_tasks() {
  for (auto process : processes_) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
}

double two_tasks::peak_memory(size_t task) const {
  std::ifstream status{concat("/proc/", processes_.at(task), "/status")};
  for (std::string word; status >> word;)
    if (double kib = 0; word == "VmHWM:" && status >> kib)
      return kib * 1024;
  return 0;
}

} // namespace troupe::bench
