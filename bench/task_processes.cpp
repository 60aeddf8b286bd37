#include "bench/task_processes.hpp"

#include "troupe/serialization/tls/certificate_authority.hpp"
#include "troupe/serialization/tls/private_file.hpp"
#include "troupe/troupe.hpp"

#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

namespace troupe::bench {
namespace {

int free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto bound = bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
               getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(listener);
  if (!bound)
    throw error{failure(error_kind::unavailable, "no free port on the loopback interface")};
  return ntohs(address.sin_port);
}

// Issues the certificates of the authority, the workers and a client.
std::string make_certificates() {
  auto folder =
      (std::filesystem::temp_directory_path() / concat("troupe_bench.", getpid())).string();
  std::filesystem::create_directories(folder);
  auto valid_for = validity::for_days(1);
  auto authority = value_or_throw(certificate_authority::make(valid_for));
  throw_if_failed(write_private_file(folder + "/authority.pem", authority.pem().certificate, true));
  for (const auto& [file, name] : {std::pair{"tasks", certificate_name::of_job("", "worker")},
                                   std::pair{"client", certificate_name::of_client("", "bench")}}) {
    auto issued = value_or_throw(authority.issue({name}, valid_for));
    auto files = files_in(folder, file);
    throw_if_failed(write_private_file(files.certificate, issued.certificate, true));
    throw_if_failed(write_private_file(files.key, issued.key, true));
  }
  return folder;
}

} // namespace

tls_files files_in(const std::string& folder, const std::string& name) {
  return {folder + "/" + name + ".pem", folder + "/" + name + ".key", folder + "/authority.pem"};
}

task_processes::task_processes(medium_kind medium, int count) : medium_(medium) {
  for (int i = 0; i < count; ++i)
    cluster_ += concat(i ? ", " : "{\"worker\": [", "\"127.0.0.1:", free_port(), '"');
  cluster_ += "]}";
  if (medium == medium_kind::tls)
    folder_ = make_certificates();
  for (int i = 0; i < count; ++i)
    start(static_cast<size_t>(i));
}

task_processes::task_processes(joined) : cluster_(concat("join:127.0.0.1:", free_port())) {
  start(0);
}

task_processes task_processes::joinable() { return task_processes{joined{}}; }

void task_processes::start(size_t task) {
  const auto number = std::to_string(task);
  const char* arguments[] = {"troupe_bench",
                             "--serve-task",
                             cluster_.c_str(),
                             number.c_str(),
                             medium_ == medium_kind::peer_memory ? nullptr
                             : medium_ == medium_kind::socket    ? "by_socket"
                                                                 : folder_.c_str(),
                             nullptr};
  pid_t process = 0;
  if (posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, const_cast<char* const*>(arguments),
                  environ) != 0)
    return;
  processes_.resize(std::max(processes_.size(), task + 1));
  processes_[task] = process;
}

void task_processes::kill(size_t task) {
  if (auto process = std::exchange(processes_.at(task), 0)) {
    ::kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
}

task_processes::~task_processes() {
  for (size_t i = 0; i < processes_.size(); ++i)
    kill(i);
  if (!folder_.empty())
    std::filesystem::remove_all(folder_);
}

tls_files task_processes::client_files() const {
  return folder_.empty() ? tls_files{} : files_in(folder_, "client");
}

double task_processes::peak_memory(size_t task) const {
  std::ifstream status{concat("/proc/", processes_.at(task), "/status")};
  for (std::string word; status >> word;)
    if (double kib = 0; word == "VmHWM:" && status >> kib)
      return kib * 1024;
  return 0;
}

double task_processes::processor_seconds(size_t task) const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(processes_.at(task), &clock) != 0 || clock_gettime(clock, &used) != 0)
    return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

} // namespace troupe::bench
