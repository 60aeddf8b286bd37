#include "tests/support/etcd_server.hpp"

#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/http_client.hpp"
#include "troupe/serialization/discovery/etcd_messages.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace troupe::test {

bool etcd_server::is_installed() {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (size_t begin = 0; begin < path.size();) {
    auto end = std::min(path.find(':', begin), path.size());
    if (std::filesystem::exists(std::filesystem::path{path.substr(begin, end - begin)} / "etcd"))
      return true;
    begin = end + 1;
  }
  return false;
}

etcd_server::etcd_server() {
  auto ports = free_ports(2);
  url_ = concat("http://127.0.0.1:", ports[0]);
  peer_url_ = concat("http://127.0.0.1:", ports[1]);
  start();
}

etcd_server::~etcd_server() { stop(); }

void etcd_server::start() {
  std::vector<std::string> words{"etcd",
                                 "--name=test",
                                 "--data-dir=" + (folder_ / "data"),
                                 "--listen-client-urls=" + url_,
                                 "--advertise-client-urls=" + url_,
                                 "--listen-peer-urls=" + peer_url_,
                                 "--initial-advertise-peer-urls=" + peer_url_,
                                 "--initial-cluster=test=" + peer_url_,
                                 "--unsafe-no-fsync"};
  std::vector<char*> arguments;
  for (auto& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  auto problem = ::posix_spawnp(&pid_, "etcd", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0)
    throw std::runtime_error{"cannot start etcd"};
  auto server_address = *address::parse(url_.substr(std::string{"http://"}.size()));
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20 * timeout_factor()};
  while (std::chrono::steady_clock::now() < end)
    if (auto answer = http_post(server_address, "/v3/kv/range", etcd_range("x", false),
                                std::chrono::seconds{2});
        answer && parse_etcd_range(*answer))
      return;
  throw std::runtime_error{"etcd does not answer"};
}

void etcd_server::freeze() { ::kill(pid_, SIGSTOP); }
void etcd_server::go_on() { ::kill(pid_, SIGCONT); }

void etcd_server::stop() {
  if (pid_ <= 0)
    return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

} // namespace troupe::test
