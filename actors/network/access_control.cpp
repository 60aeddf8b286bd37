#include "troupe/actors/network/access_control.hpp"

#include "troupe/actors/base/peer_account.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/tls/token.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include <sys/stat.h>

namespace troupe {
namespace {

struct file_stamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;
  int64_t changed_ns = 0;
  bool operator==(const file_stamp&) const = default;
};

file_stamp stamp_of_file(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return {};
  return {found.st_dev, found.st_ino, found.st_size,
          int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

bool is_task(const certificate_name& name) { return !name.is_client(); }

result<access_list> read_access_file(const std::string& path) {
  TROUPE_ASSIGN(auto text, read_file(path));
  return access_list::parse(text, path);
}

class file_access_control final : public access_control {
public:
  file_access_control(std::string path, const file_stamp& read, access_list list,
                      std::function<void(const std::string&)> on_warning)
      : path_(std::move(path)), on_warning_(std::move(on_warning)), read_(read),
        list_(std::make_shared<const access_list>(std::move(list))) {}

  bool takes_tokens() override { return current()->has_tokens(); }

  status check_token(const hello& who) override {
    auto found = known(*current(), who, {});
    return found ? status{} : found.status();
  }

  result<std::shared_ptr<peer_account>>
  admit(const hello& who, const std::vector<certificate_name>& proven) override {
    if (who.access_token.empty() && std::ranges::any_of(proven, is_task))
      return std::shared_ptr<peer_account>{}; // or a session of its program
    auto list = current();
    TROUPE_ASSIGN(auto client, known(*list, who, proven));
    auto account = account_of(client, !who.access_token.empty());
    if (take_one(account->connections, client.rights.connections))
      return account;
    return failure(error_kind::resource_exhausted, "client '", client.name, "' has ",
                   client.rights.connections, " connections already, as many as it may");
  }

private:
  result<known_client> known(const access_list& list, const hello& who,
                             const std::vector<certificate_name>& proven) const {
    if (!who.access_token.empty()) {
      if (const auto* found = list.of_token(digest_of_token(who.access_token)))
        return *found;
      return failure(error_kind::failed_precondition,
                     "its token is not on the access list of this task");
    }
    if (proven.empty())
      return failure(error_kind::failed_precondition, "it shows neither a certificate nor a token");
    const auto& name = proven.front().client;
    if (const auto* rights = list.of_client(name))
      return known_client{name, *rights};
    return failure(error_kind::failed_precondition, "client '", name,
                   "' is not on the access list of this task");
  }

  // Those whose rights have changed have a new one: connections of before keep theirs. A token and
  // a certificate may bear one name, and have rights of their own.
  std::shared_ptr<peer_account> account_of(const known_client& client, bool by_token) {
    std::lock_guard guard{mutex_};
    std::erase_if(accounts_, [](const auto& one) { return one.second.expired(); });
    auto& known = accounts_[{by_token, client.name}];
    auto found = known.lock();
    if (!found || found->rights != client.rights)
      known = found = std::make_shared<peer_account>(client.name, client.rights);
    return found;
  }

  std::shared_ptr<const access_list> current() {
    std::string warning;
    std::shared_ptr<const access_list> found;
    {
      std::lock_guard guard{mutex_};
      if (auto now = stamp_of_file(path_); now != read_) {
        read_ = now;
        if (auto made = read_access_file(path_))
          list_ = std::make_shared<const access_list>(*std::move(made));
        else
          warning = concat("the access list has changed, and that of before serves on: ",
                           made.status().message());
      }
      found = list_;
    }
    if (!warning.empty() && on_warning_)
      on_warning_(warning);
    return found;
  }

  const std::string path_;
  const std::function<void(const std::string&)> on_warning_;
  std::mutex mutex_; // of what follows
  file_stamp read_;
  std::shared_ptr<const access_list> list_;
  std::map<std::pair<bool, std::string>, std::weak_ptr<peer_account>> accounts_;
};

} // namespace

result<std::shared_ptr<access_control>>
access_control::load(std::string path, std::function<void(const std::string&)> on_warning) {
  auto read = stamp_of_file(path);
  TROUPE_ASSIGN(auto list, read_access_file(path));
  return std::shared_ptr<access_control>{std::make_shared<file_access_control>(
      std::move(path), read, std::move(list), std::move(on_warning))};
}

status check_claim(const hello& who, const std::vector<certificate_name>& proven,
                   const std::string& cluster) {
  task_name task{who.job, who.task};
  if (who.role != "task" || covers(proven, cluster, task))
    return {};
  return failure(error_kind::failed_precondition, "it says that it is ", task,
                 ", but its certificate names ", list_of(proven));
}

status may_say(const std::vector<certificate_name>& proven, const message& what,
               const std::string& cluster) {
  auto is_task_here = [&](const auto& one) { return one.cluster == cluster && is_task(one); };
  auto only_tasks = [&](const char* say) {
    return std::ranges::any_of(proven, is_task_here)
               ? status{}
               : failure(error_kind::failed_precondition, "clients do not ", say);
  };
  // Clients hear who the tasks are, say which list they have, and tell nothing of it.
  if (const auto* list = std::get_if<member_changes>(&what))
    return list->since == list->epoch && list->members.empty()
               ? status{}
               : only_tasks("say who the tasks are");
  if (std::holds_alternative<number_grant>(what))
    return only_tasks("give out numbers");
  const auto* claim = std::get_if<number_claim>(&what);
  auto of_that_job = [&](const auto& one) {
    return one.cluster == cluster && one.job == claim->job &&
           (!one.task || claim->task < 0 || *one.task == claim->task);
  };
  if (!claim || std::ranges::any_of(proven, of_that_job))
    return {};
  return failure(error_kind::failed_precondition, "a number of the job '", claim->job,
                 "' is asked for with a certificate that names ", list_of(proven));
}

status may_ask(const peer_account& who, const message& what, const task_name& of) {
  const auto& may = who.rights;
  auto need = [&](bool right, const auto&... words) {
    return right ? status{}
                 : failure(error_kind::failed_precondition, "client '", who.name, "' may not ",
                           words..., "; the access list of ", of, " says so");
  };
  if (const auto* asked = std::get_if<session_request>(&what)) // as for what the task does itself
    return std::visit(
        [&]<class What>(const What&) -> status {
          constexpr auto is = []<class... Kinds> { return (std::is_same_v<What, Kinds> || ...); };
          if (is.template operator()<session_open, session_prepare, session_forget>())
            return need(may.registers, "register graphs");
          if (is.template operator()<session_run, session_positions, session_fill_end>())
            return need(may.runs, "run steps");
          if (is.template operator()<session_reset>())
            return need(may.resets, "reset containers");
          return {};
        },
        asked->what);
  // What is not named here is refused: kinds that are added, and answers, which tasks give.
  return std::visit(
      [&]<class What>(const What&) -> status {
        constexpr auto is = []<class... Kinds> { return (std::is_same_v<What, Kinds> || ...); };
        if (is.template operator()<register_graph, deregister_graph>())
          return need(may.registers, "register graphs");
        if (is.template
            operator()<run_step, cancel_step, settle_step, positions_request, fill_end>())
          return need(may.runs, "run steps");
        if (is.template operator()<container_reset>())
          return need(may.resets, "reset containers");
        if (is.template operator()<drain_request>())
          return need(may.drains, "have the task drain");
        if (is.template operator()<device_list_request, state_list_request, inspect_request,
                                   member_changes, client_waits, goodbye>())
          return {};
        return need(false, "say ", name_of(what), ", as tasks do");
      },
      what);
}

std::optional<message> answer_of_refused(const message& what, status why) {
  if (auto* one = std::get_if<register_graph>(&what))
    return register_reply{one->request, 0, std::move(why)};
  if (auto* one = std::get_if<run_step>(&what))
    return step_done{one->request, std::move(why), {}, {}, false};
  if (auto* one = std::get_if<positions_request>(&what))
    return positions_reply{one->request, 0, std::move(why), {}};
  if (auto* one = std::get_if<container_reset>(&what))
    return reply{one->request, std::move(why)};
  if (auto* one = std::get_if<fill_end>(&what))
    return reply{one->request, std::move(why)};
  if (auto* one = std::get_if<settle_step>(&what))
    return reply{one->request, std::move(why)};
  if (auto* one = std::get_if<session_request>(&what))
    return session_reply{one->request, std::move(why)};
  if (auto* one = std::get_if<inspect_request>(&what))
    return inspect_reply{one->request, std::move(why)};
  if (auto* one = std::get_if<state_list_request>(&what))
    return state_list_reply{one->request, {}, std::move(why)};
  if (auto* one = std::get_if<drain_request>(&what))
    return reply{one->request, std::move(why)};
  if (std::holds_alternative<number_claim>(what))
    return number_grant{.outcome = std::move(why)};
  return std::nullopt;
}

} // namespace troupe
