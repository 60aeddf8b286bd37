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

// One service: any of its servers.
class etcd_service {
public:
  explicit etcd_service(std::vector<address> servers) : servers_(std::move(servers)) {}

  // From the one that answered last on.
  result<std::string> ask(std::string_view what, std::string body) const {
    status last;
    auto first = answered_.load();
    auto each = patience_with_service / static_cast<int>(servers_.size());
    for (size_t i = 0; i < servers_.size(); ++i) {
      auto which = (first + i) % servers_.size();
      auto answer =
          http_post(servers_[which], what, body, std::max<std::chrono::milliseconds>(each, 100ms));
      if (answer) {
        answered_ = which;
        return answer;
      }
      last = answer.status();
    }
    return std::move(last).within("etcd");
  }

private:
  std::vector<address> servers_;
  mutable std::atomic<size_t> answered_{0};
};

using service_ptr = std::shared_ptr<const etcd_service>;

struct announced_task {
  std::string address;
  uint64_t incarnation = 0;
  std::string value; // both, as they stand there
};

using announced_tasks = std::map<task_name, announced_task>;

template <class Number>
bool read_number(std::string_view text, Number& to) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
  return problem == std::errc{} && end == text.data() + text.size();
}

// Keys of others under the prefix, and what is no address, are passed over.
announced_tasks tasks_of(const std::vector<etcd_entry>& entries, const std::string& prefix) {
  announced_tasks made;
  for (const auto& one : entries) {
    std::string_view key = one.key;
    if (!key.starts_with(prefix) || made.size() == max_entries)
      continue;
    key.remove_prefix(prefix.size());
    auto slash = key.find('/');
    task_name task{std::string{key.substr(0, slash)}, 0};
    if (slash == key.npos || !is_job_name(task.job) ||
        !read_number(key.substr(slash + 1), task.task) || task.task < 0 ||
        task.task >= max_tasks_of_job)
      continue;
    auto space = one.value.find(' ');
    announced_task found{one.value.substr(0, space), 0, one.value};
    if (space != one.value.npos)
      read_number(std::string_view{one.value}.substr(space + 1), found.incarnation);
    if (is_address(found.address))
      made.emplace(std::move(task), std::move(found));
  }
  return made;
}

std::string key_of(const std::string& prefix, const task_name& task) {
  return concat(prefix, task.job, '/', task.task);
}

// Keeps a task announced, on a thread of its own.
class kept_announcement final : public announcement {
public:
  kept_announcement(service_ptr service, std::string prefix, std::chrono::seconds time_to_live,
                    announce_options what)
      : service_(std::move(service)), prefix_(std::move(prefix)), time_to_live_(time_to_live),
        what_(std::move(what)) {}

  ~kept_announcement() override {
    {
      std::lock_guard guard{mutex_};
      stop_ = true;
      changed_.notify_all();
    }
    if (keeper_.joinable())
      keeper_.join();
    if (lease_ != 0)
      (void)guarded("giving up a lease", [&] {
        return service_->ask("/v3/lease/revoke", etcd_revoke(lease_)).status();
      }).ok();
  }

  const number_grant& granted() const override { return granted_; }

  status begin() {
    auto end = step_clock::now() + what_.patience;
    for (;;) {
      auto outcome = try_once();
      if (outcome)
        return guarded("keeping the task announced",
                       [&] { keeper_ = std::thread{[this] { keep(); }}; });
      if (outcome.kind() != error_kind::unavailable || step_clock::now() > end)
        return outcome;
      if (what_.give_up && what_.give_up())
        return failure(error_kind::cancelled, "no number is wanted any more");
      if (step_clock::now() > lease_taken_ + time_to_live_ / 2)
        lease_ = 0;                                     // nothing hangs on it: it ends by itself
      std::this_thread::sleep_for(pause_between_tries); // on the thread of a task that begins
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
    number_grant grant{.outcome = {}, .task = task, .incarnation = what_.what.incarnation};
    if (before != tasks.end())
      grant.incarnation = std::max(grant.incarnation, before->second.incarnation + 1);
    etcd_entry entry{key_of(prefix_, task), concat(what_.what.address, ' ', grant.incarnation),
                     lease_};
    TROUPE_ASSIGN(auto outcome, put(entry, before == tasks.end() ? "" : before->second.value));
    if (!outcome.done)
      return failure(error_kind::unavailable, "another task was quicker to take ", task);
    granted_ = std::move(grant);
    entry_ = std::move(entry);
    return {};
  }

  result<etcd_outcome> put(const etcd_entry& what, const std::string& instead_of) const {
    TROUPE_ASSIGN(auto answer,
                  service_->ask("/v3/kv/txn", instead_of.empty()
                                                  ? etcd_put_if_absent(what)
                                                  : etcd_put_instead(what, instead_of)));
    return parse_etcd_outcome(answer);
  }

  // What is at our address was a process that has ended.
  result<task_name> choose(const announced_tasks& there) const {
    const auto& what = what_.what;
    if (what.task >= 0) {
      task_name task{what.job, what.task};
      auto it = there.find(task);
      if (it == there.end() || it->second.address == what.address)
        return task;
      return failure(error_kind::unavailable, task, " is at ", it->second.address,
                     " until its lease ends");
    }
    auto free = 0;
    for (auto it = there.lower_bound({what.job, 0}); it != there.end() && it->first.job == what.job;
         ++it) {
      if (it->second.address == what.address)
        return it->first;
      if (it->first.task == free)
        ++free;
    }
    if (free >= max_tasks_of_job)
      return failure(error_kind::resource_exhausted, "the job '", what.job, "' has ",
                     max_tasks_of_job, " tasks already");
    return task_name{what.job, free};
  }

  void keep() {
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, time_to_live_ / 3.0, [&] { return stop_; })) {
      lock.unlock();
      auto outcome = guarded("renewing a lease", [&] { return renew(); });
      lock.lock();
      if (!outcome && outcome.kind() == error_kind::failed_precondition) {
        if (what_.on_lost)
          what_.on_lost(outcome);
        return;
      }
    }
  }

  // A lease that has ended, while this process or the service was not there, is followed by
  // another. An error says nothing of it: until its time is over, it may live.
  status renew() {
    auto lease = keep_alive();
    auto now = step_clock::now();
    auto lives = lease && lease->left.count() > 0;
    if (!lease && now < lease_taken_ + time_to_live_)
      return lease.status();
    if (lives)
      lease_taken_ = now;
    else
      TROUPE_TRY(take_lease());
    entry_.lease = lease_;
    // Also where the lease lives, another may be in our place.
    TROUPE_ASSIGN(auto outcome, put(entry_, ""));
    if (outcome.done)
      return {};
    if (is_ours(outcome)) {
      if (outcome.there[0].lease == lease_)
        return {};
      TROUPE_ASSIGN(outcome, put(entry_, entry_.value)); // it hangs on a lease of before
      if (outcome.done)
        return {};
    }
    if (outcome.there.empty() || is_ours(outcome))
      return failure(error_kind::unavailable, "etcd says neither that ", granted_.task,
                     " is announced nor what is there");
    return failure(error_kind::failed_precondition, granted_.task, " with the incarnation ",
                   granted_.incarnation, " has been replaced, as etcd says; end the old process");
  }

  result<etcd_lease> keep_alive() const {
    TROUPE_ASSIGN(auto answer, service_->ask("/v3/lease/keepalive", etcd_keep_alive(lease_)));
    return parse_etcd_lease(answer);
  }

  bool is_ours(const etcd_outcome& what) const {
    return !what.there.empty() && what.there[0].value == entry_.value;
  }

  const service_ptr service_;
  const std::string prefix_;
  const std::chrono::seconds time_to_live_;
  const announce_options what_;
  number_grant granted_;
  etcd_entry entry_;
  int64_t lease_ = 0;
  step_clock::time_point lease_taken_; // or when it was last known to live
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread keeper_;
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
    task_addresses made;
    for (auto& [task, one] : tasks_of(entries, prefix_))
      made.tasks.emplace(task, std::move(one.address));
    return made;
  }
  std::chrono::milliseconds read_again() const override { return 1s; }
  bool takes_announcements() const override { return true; }
  result<std::unique_ptr<announcement>> announce(announce_options what) override {
    auto made =
        std::make_unique<kept_announcement>(service_, prefix_, time_to_live_, std::move(what));
    TROUPE_TRY(made->begin());
    return std::unique_ptr<announcement>{std::move(made)};
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
  auto wanted = [&] {
    return invalid("etcd: '", text.substr(0, max_prefix),
                   "' names no servers; write etcd:http://host:2379,http://host:2379/prefix");
  };
  constexpr std::string_view scheme = "http://";
  std::vector<address> servers;
  auto rest = text;
  std::string prefix = "troupe";
  for (;;) {
    if (rest.starts_with("https:"))
      return invalid("etcd: connections to its servers are without TLS; write http://");
    if (rest.starts_with(scheme))
      rest.remove_prefix(scheme.size());
    auto end = rest.find_first_of(",/");
    auto server = rest.substr(0, end);
    if (!is_address(server) || servers.size() == max_servers)
      return wanted();
    TROUPE_ASSIGN(auto at, address::parse(server));
    servers.push_back(std::move(at));
    if (end == rest.npos)
      break;
    auto separator = rest[end];
    rest.remove_prefix(end + 1);
    if (separator == '/') {
      while (rest.ends_with('/'))
        rest.remove_suffix(1);
      if (rest.empty() || rest.size() > max_prefix)
        return wanted();
      prefix = rest;
      break;
    }
  }
  return std::shared_ptr<address_source>{
      std::make_shared<etcd_source>(std::make_shared<const etcd_service>(std::move(servers)),
                                    concat('/', prefix, '/'), time_to_live, concat("etcd:", text))};
}

} // namespace troupe
