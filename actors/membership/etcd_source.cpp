#include "troupe/actors/membership/etcd_source.hpp"

#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/http_client.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/serialization/config/address_text.hpp"
#include "troupe/serialization/discovery/etcd_messages.hpp"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr size_t max_servers = 16, max_prefix = 256, max_entries = 65'536;
constexpr std::chrono::milliseconds patience_with_service{1'000}, pause_between_tries{200};

// The etcd service: several servers, any of which can answer. Any thread may call.
class etcd_service {
public:
  explicit etcd_service(std::vector<address> servers) : servers_(std::move(servers)) {}

  // Asks the servers in turn, beginning with the one that answered last.
  result<std::string> ask(std::string_view path, std::string body) const {
    status last_error;
    auto first = answered_.load();
    auto patience = std::max<std::chrono::milliseconds>(
        patience_with_service / static_cast<int>(servers_.size()), 100ms);
    for (size_t i = 0; i < servers_.size(); ++i) {
      auto index = (first + i) % servers_.size();
      auto answer = http_post(servers_[index], path, body, patience);
      if (answer) {
        answered_ = index;
        return answer;
      }
      last_error = answer.status();
    }
    return std::move(last_error).with_context("etcd");
  }

private:
  std::vector<address> servers_;
  mutable std::atomic<size_t> answered_{0};
};

using service_ptr = std::shared_ptr<const etcd_service>;

struct announced_task {
  std::string address;
  uint64_t incarnation = 0;
  std::string value; // the address and the incarnation, as etcd stores them
};

using announced_tasks = std::map<task_name, announced_task>;

template <class Number>
bool read_number(std::string_view text, Number& number) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

// Ignores other keys under the prefix, and values that are no addresses.
announced_tasks tasks_of(const std::vector<etcd_entry>& entries, const std::string& prefix) {
  announced_tasks tasks;
  for (const auto& entry : entries) {
    std::string_view key = entry.key;
    if (!key.starts_with(prefix) || tasks.size() == max_entries)
      continue;
    key.remove_prefix(prefix.size());
    auto slash = key.find('/');
    task_name task{std::string{key.substr(0, slash)}, 0};
    if (slash == key.npos || !is_job_name(task.job) ||
        !read_number(key.substr(slash + 1), task.task) || task.task < 0 ||
        task.task >= max_tasks_of_job)
      continue;
    auto space = entry.value.find(' ');
    announced_task announced{entry.value.substr(0, space), 0, entry.value};
    if (space != entry.value.npos)
      read_number(std::string_view{entry.value}.substr(space + 1), announced.incarnation);
    if (is_address(announced.address))
      tasks.emplace(std::move(task), std::move(announced));
  }
  return tasks;
}

std::string key_of(const std::string& prefix, const task_name& task) {
  return concat(prefix, task.job, '/', task.task);
}

// Stores the address of a task in etcd, and renews its lease on a thread of its own. The destructor
// revokes the lease.
class kept_announcement final : public announcement {
public:
  kept_announcement(service_ptr service, std::string prefix, std::chrono::seconds time_to_live,
                    announce_options options)
      : service_(std::move(service)), prefix_(std::move(prefix)), time_to_live_(time_to_live),
        options_(std::move(options)) {}

  ~kept_announcement() override {
    {
      std::lock_guard guard{mutex_};
      stop_ = true;
      changed_.notify_all();
    }
    if (renewal_thread_.joinable())
      renewal_thread_.join();
    if (lease_ != 0)
      (void)guarded("giving up a lease", [&] {
        return service_->ask("/v3/lease/revoke", etcd_revoke(lease_)).status();
      }).ok();
  }

  const number_grant& grant() const override { return granted_; }

  status begin() {
    auto end = step_clock::now() + options_.timeout;
    for (;;) {
      auto outcome = try_once();
      if (outcome)
        return guarded("keeping the task announced",
                       [&] { renewal_thread_ = std::thread{[this] { renew_repeatedly(); }}; });
      if (outcome.kind() != error_kind::unavailable || step_clock::now() > end)
        return outcome;
      if (options_.is_cancelled && options_.is_cancelled())
        return failure(error_kind::cancelled, "the request for a number was cancelled");
      if (step_clock::now() > lease_taken_ + time_to_live_ / 2)
        lease_ = 0;                                     // no key uses it, so it may expire
      std::this_thread::sleep_for(pause_between_tries); // on the thread that starts the task
    }
  }

private:
  status take_lease() {
    TROUPE_ASSIGN(auto answer, service_->ask("/v3/lease/grant", etcd_grant(time_to_live_)));
    TROUPE_ASSIGN(auto lease, parse_etcd_lease(answer));
    lease_ = lease.id;
    lease_taken_ = step_clock::now();
    return {};
  }

  status try_once() {
    if (lease_ == 0)
      TROUPE_TRY(take_lease());
    TROUPE_ASSIGN(auto answer, service_->ask("/v3/kv/range", etcd_range(prefix_, false)));
    TROUPE_ASSIGN(auto entries, parse_etcd_range(answer));
    auto tasks = tasks_of(entries, prefix_);
    TROUPE_ASSIGN(auto task, choose(tasks));
    auto before = tasks.find(task);
    number_grant grant{.outcome = {}, .task = task, .incarnation = options_.claim.incarnation};
    if (before != tasks.end())
      grant.incarnation = std::max(grant.incarnation, before->second.incarnation + 1);
    etcd_entry entry{key_of(prefix_, task), concat(options_.claim.address, ' ', grant.incarnation),
                     lease_};
    TROUPE_ASSIGN(auto outcome, put(entry, before == tasks.end() ? "" : before->second.value));
    if (!outcome.succeeded)
      return failure(error_kind::unavailable, "another task has taken ", task, " at the same time");
    granted_ = std::move(grant);
    entry_ = std::move(entry);
    return {};
  }

  result<etcd_outcome> put(const etcd_entry& entry, const std::string& expected_value) const {
    TROUPE_ASSIGN(auto answer,
                  service_->ask("/v3/kv/txn", expected_value.empty()
                                                  ? etcd_put_if_absent(entry)
                                                  : etcd_put_if_equal(entry, expected_value)));
    return parse_etcd_outcome(answer);
  }

  // An entry with this task's address belongs to a process that has ended.
  result<task_name> choose(const announced_tasks& tasks) const {
    const auto& claim = options_.claim;
    if (claim.task >= 0) {
      task_name task{claim.job, claim.task};
      auto holder = tasks.find(task);
      if (holder == tasks.end() || holder->second.address == claim.address)
        return task;
      return failure(error_kind::unavailable, task, " is at ", holder->second.address,
                     " until its lease ends");
    }
    auto free_number = 0;
    for (auto entry = tasks.lower_bound({claim.job, 0});
         entry != tasks.end() && entry->first.job == claim.job; ++entry) {
      if (entry->second.address == claim.address)
        return entry->first;
      if (entry->first.task == free_number)
        ++free_number;
    }
    if (free_number >= max_tasks_of_job)
      return failure(error_kind::resource_exhausted, "the job '", claim.job, "' has ",
                     max_tasks_of_job, " tasks already");
    return task_name{claim.job, free_number};
  }

  // Renews the lease until the destructor or the loss of the key.
  void renew_repeatedly() {
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, time_to_live_ / 3.0, [&] { return stop_; })) {
      lock.unlock();
      auto outcome = guarded("renewing a lease", [&] { return renew(); });
      lock.lock();
      if (!outcome && outcome.kind() == error_kind::failed_precondition) {
        if (options_.on_lost)
          options_.on_lost(outcome);
        return;
      }
    }
  }

  // An expired lease is replaced by another. If the service does not answer, the lease may still
  // exist until its time to live is over.
  status renew() {
    auto lease = keep_alive();
    auto now = step_clock::now();
    auto is_alive = lease && lease->time_left.count() > 0;
    if (!lease && now < lease_taken_ + time_to_live_)
      return lease.status();
    if (is_alive)
      lease_taken_ = now;
    else
      TROUPE_TRY(take_lease());
    entry_.lease = lease_;
    // Even with a valid lease, another process may have taken the key.
    TROUPE_ASSIGN(auto outcome, put(entry_, ""));
    if (outcome.succeeded)
      return {};
    if (is_ours(outcome)) {
      if (outcome.current_entries[0].lease == lease_)
        return {};
      TROUPE_ASSIGN(outcome, put(entry_, entry_.value)); // the key has a former lease
      if (outcome.succeeded)
        return {};
    }
    if (outcome.current_entries.empty() || is_ours(outcome))
      return failure(error_kind::unavailable, "etcd has neither stored the address of ",
                     granted_.task, " nor returned the address that it has");
    return failure(error_kind::failed_precondition, granted_.task, " with the incarnation ",
                   granted_.incarnation,
                   " has been replaced: etcd has the address of another process; end the old "
                   "process");
  }

  result<etcd_lease> keep_alive() const {
    TROUPE_ASSIGN(auto answer, service_->ask("/v3/lease/keepalive", etcd_keep_alive(lease_)));
    return parse_etcd_lease(answer);
  }

  bool is_ours(const etcd_outcome& outcome) const {
    return !outcome.current_entries.empty() && outcome.current_entries[0].value == entry_.value;
  }

  const service_ptr service_;
  const std::string prefix_;
  const std::chrono::seconds time_to_live_;
  const announce_options options_;
  number_grant granted_;
  etcd_entry entry_;
  int64_t lease_ = 0;
  step_clock::time_point lease_taken_; // or was last known to be valid
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread renewal_thread_;
};

class etcd_source final : public address_source {
public:
  etcd_source(service_ptr service, std::string prefix, std::chrono::seconds time_to_live,
              std::string name)
      : service_(std::move(service)), prefix_(std::move(prefix)), time_to_live_(time_to_live),
        name_(std::move(name)) {}

  result<task_addresses> read() override {
    TROUPE_ASSIGN(auto answer, service_->ask("/v3/kv/range", etcd_range(prefix_, true)));
    TROUPE_ASSIGN(auto entries, parse_etcd_range(answer));
    task_addresses addresses;
    for (auto& [task, announced] : tasks_of(entries, prefix_))
      addresses.tasks.emplace(task, std::move(announced.address));
    return addresses;
  }
  std::chrono::milliseconds poll_interval() const override { return 1s; }
  bool takes_announcements() const override { return true; }
  result<std::unique_ptr<announcement>> announce(announce_options options) override {
    auto kept =
        std::make_unique<kept_announcement>(service_, prefix_, time_to_live_, std::move(options));
    TROUPE_TRY(kept->begin());
    return std::unique_ptr<announcement>{std::move(kept)};
  }
  std::string name() const override { return name_; }

private:
  const service_ptr service_;
  const std::string prefix_;
  const std::chrono::seconds time_to_live_;
  const std::string name_;
};

} // namespace

result<std::shared_ptr<address_source>> make_etcd_source(std::string_view text,
                                                         std::chrono::seconds time_to_live) {
  auto syntax_error = [&] {
    return invalid("etcd: '", text.substr(0, max_prefix),
                   "' names no servers; write etcd:http://host:2379,http://host:2379/prefix");
  };
  constexpr std::string_view scheme = "http://";
  std::vector<address> servers;
  auto remaining = text;
  std::string prefix = "troupe";
  for (;;) {
    if (remaining.starts_with("https:"))
      return invalid("etcd: connections to its servers are without TLS; write http://");
    if (remaining.starts_with(scheme))
      remaining.remove_prefix(scheme.size());
    auto end = remaining.find_first_of(",/");
    auto server = remaining.substr(0, end);
    if (!is_address(server) || servers.size() == max_servers)
      return syntax_error();
    TROUPE_ASSIGN(auto parsed, address::parse(server));
    servers.push_back(std::move(parsed));
    if (end == remaining.npos)
      break;
    auto separator = remaining[end];
    remaining.remove_prefix(end + 1);
    if (separator == '/') {
      while (remaining.ends_with('/'))
        remaining.remove_suffix(1);
      if (remaining.empty() || remaining.size() > max_prefix)
        return syntax_error();
      prefix = remaining;
      break;
    }
  }
  return std::shared_ptr<address_source>{
      std::make_shared<etcd_source>(std::make_shared<const etcd_service>(std::move(servers)),
                                    concat('/', prefix, '/'), time_to_live, concat("etcd:", text))};
}

} // namespace troupe
