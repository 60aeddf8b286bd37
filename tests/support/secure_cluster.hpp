// A cluster over TLS for tests: its authority, tasks in this process, and their log.
#pragma once
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/api/internal/library.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace troupe::test {

inline constexpr auto small_text = "x = Add(i32(1), i32(2))\nfetch x = i32(3)";

// The log lines of a task.
struct log_lines {
  std::mutex mutex;
  std::vector<std::string> lines;
  void add(const std::string& text) {
    std::lock_guard guard{mutex};
    lines.push_back(text);
  }
  bool have(std::string_view part) {
    std::lock_guard guard{mutex};
    return std::ranges::any_of(lines, [&](auto& line) { return line.find(part) != line.npos; });
  }
  // Another thread logs the line.
  bool eventually_contain(std::string_view part) {
    for (auto end = std::chrono::steady_clock::now() + std::chrono::seconds{5};
         std::chrono::steady_clock::now() < end; std::this_thread::yield())
      if (have(part))
        return true;
    return false;
  }
};

struct secure_cluster {
  explicit secure_cluster(size_t workers, bool same_host_reads = true,
                          std::chrono::milliseconds peer_timeout = std::chrono::seconds{10})
      : secure_cluster(workers, same_host_reads, peer_timeout, {}) {}
  // One task with an access list.
  explicit secure_cluster(const std::string& access)
      : secure_cluster(1, true, std::chrono::seconds{10}, access) {}
  secure_cluster(size_t workers, bool same_host_reads, std::chrono::milliseconds peer_timeout,
                 const std::string& access)
      : cluster(make_cluster(workers)) {
    if (!access.empty())
      list = authority.write("access.json", access);
    for (size_t i = 0; i < workers; ++i)
      tasks.push_back(start(static_cast<int>(i), same_host_reads, peer_timeout));
  }
  std::unique_ptr<task> start(int number, bool same_host_reads,
                              std::chrono::milliseconds peer_timeout) {
    auto options = options_of_task(cluster, {"worker", number});
    options.tls = authority.task("worker", number);
    options.access_list = list;
    options.peer_timeout = peer_timeout;
    options.same_host_reads = same_host_reads;
    options.on_warning = [this](const std::string& text) { log.add(text); };
    return start_task(std::move(options));
  }
  std::unique_ptr<client> connect(const tls_files& files) const { return connect(files, cluster); }
  static std::unique_ptr<client> connect(const tls_files& files,
                                         const cluster_spec& target_cluster) {
    auto connected = client::connect(target_cluster, {.ops = &library(),
                                                      .make_devices = {},
                                                      .inter_op_threads = 2,
                                                      .container = {},
                                                      .tls = files});
    INFO(connected.status());
    REQUIRE(connected);
    return *std::move(connected);
  }
  uint16_t port() const { return tasks[0]->port(); }
  bool runs_steps() {
    return run_all(*connect(authority.client("alice")), text_case{small_text}).empty();
  }

  test_authority authority;
  std::string list;
  log_lines log; // outlives the threads that write to it
  cluster_spec cluster;
  std::vector<std::unique_ptr<task>> tasks;
};

// The error of a step of a client that is not admitted.
inline status refused(client& refused_client,
                      std::chrono::milliseconds timeout = std::chrono::seconds{5}) {
  auto begin = std::chrono::steady_clock::now();
  auto outcome = run(refused_client, text_case{small_text}, 0, timeout).status();
  CHECK(std::chrono::steady_clock::now() - begin < timeout + std::chrono::seconds{1});
  INFO(outcome);
  CHECK(!outcome.ok());
  CHECK_THAT(outcome.message(), Catch::Matchers::Contains("/job:worker/task:0"));
  return outcome;
}

} // namespace troupe::test
