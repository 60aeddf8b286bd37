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
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return {};
  return {info.st_dev, info.st_ino, info.st_size,
          int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

bool is_task(const certificate_name& name) { return !name.is_client(); }

result<access_list> read_access_file(const std::string& path) {
  TROUPE_ASSIGN(auto text, read_file(path));
  return access_list::parse(text, path);
}

class file_access_control final : public access_control {
public:
  file_access_control(std::string path, const file_stamp& stamp, access_list list,
                      std::function<void(const std::string&)> on_warning)
      : path_(std::move(path)), on_warning_(std::move(on_warning)), stamp_(stamp),
        list_(std::make_shared<const access_list>(std::move(list))) {}

  bool accepts_tokens() override { return current()->has_tokens(); }

  status check_token(const hello& peer) override {
    auto client = known(*current(), peer, {});
    return client ? status{} : client.status();
  }

  result<std::shared_ptr<peer_account>>
  admit(const hello& peer, const std::vector<certificate_name>& proven) override {
    if (peer.access_token.empty() && std::ranges::any_of(proven, is_task))
      return std::shared_ptr<peer_account>{}; // a task, or a session of its program
    auto list = current();
    TROUPE_ASSIGN(auto client, known(*list, peer, proven));
    auto account = account_of(client, !peer.access_token.empty());
    if (acquire_slot(account->connections, client.rights.connections))
      return account;
    return failure(error_kind::resource_exhausted, "client '", client.name, "' has ",
                   client.rights.connections, " connections already, which is its limit");
  }

private:
  result<known_client> known(const access_list& list, const hello& peer,
                             const std::vector<certificate_name>& proven) const {
    if (!peer.access_token.empty()) {
      if (const auto* client = list.client_of_token(digest_of_token(peer.access_token)))
        return *client;
      return failure(error_kind::failed_precondition,
                     "its token is not on the access list of this task");
    }
    if (proven.empty())
      return failure(error_kind::failed_precondition, "it shows neither a certificate nor a token");
    const auto& name = proven.front().client;
    if (const auto* rights = list.rights_of_client(name))
      return known_client{name, *rights};
    return failure(error_kind::failed_precondition, "client '", name,
                   "' is not on the access list of this task");
  }

  // A client whose rights have changed gets a new account; earlier connections keep the old one. A
  // token and a certificate may have the same name, with different rights.
  std::shared_ptr<peer_account> account_of(const known_client& client, bool by_token) {
    std::lock_guard guard{mutex_};
    std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
    auto& cached = accounts_[{by_token, client.name}];
    auto account = cached.lock();
    if (!account || account->rights != client.rights)
      cached = account = std::make_shared<peer_account>(client.name, client.rights);
    return account;
  }

  std::shared_ptr<const access_list> current() {
    std::string warning;
    std::shared_ptr<const access_list> list;
    {
      std::lock_guard guard{mutex_};
      if (auto current_stamp = stamp_of_file(path_); current_stamp != stamp_) {
        stamp_ = current_stamp;
        if (auto updated = read_access_file(path_))
          list_ = std::make_shared<const access_list>(*std::move(updated));
        else
          warning = concat(
              "the access list has changed and cannot be read; the previous one stays in force: ",
              updated.status().message());
      }
      list = list_;
    }
    if (!warning.empty() && on_warning_)
      on_warning_(warning);
    return list;
  }

  const std::string path_;
  const std::function<void(const std::string&)> on_warning_;
  std::mutex mutex_; // guards the members below
  file_stamp stamp_;
  std::shared_ptr<const access_list> list_;
  std::map<std::pair<bool, std::string>, std::weak_ptr<peer_account>> accounts_;
};

} // namespace

result<std::shared_ptr<access_control>>
access_control::load(std::string path, std::function<void(const std::string&)> on_warning) {
  auto stamp = stamp_of_file(path);
  TROUPE_ASSIGN(auto list, read_access_file(path));
  return std::shared_ptr<access_control>{std::make_shared<file_access_control>(
      std::move(path), stamp, std::move(list), std::move(on_warning))};
}

status check_claim(const hello& peer, const std::vector<certificate_name>& proven,
                   const std::string& cluster) {
  task_name task{peer.job, peer.task};
  if (peer.role != "task" || covers(proven, cluster, task))
    return {};
  return failure(error_kind::failed_precondition, "it says that it is ", task,
                 ", but its certificate names ", format_names(proven));
}

status check_cluster_message(const std::vector<certificate_name>& proven, const message& sent,
                             const std::string& cluster) {
  auto is_task_here = [&](const auto& name) { return name.cluster == cluster && is_task(name); };
  auto only_tasks = [&](const char* action) {
    return std::ranges::any_of(proven, is_task_here)
               ? status{}
               : failure(error_kind::failed_precondition, "clients may not ", action);
  };
  // Clients may send empty changes, which say the epoch of their list, but no members.
  if (const auto* list = std::get_if<member_changes>(&sent))
    return list->base == list->epoch && list->members.empty()
               ? status{}
               : only_tasks("send lists of the cluster's tasks");
  if (std::holds_alternative<number_grant>(sent))
    return only_tasks("assign task numbers");
  const auto* claim = std::get_if<number_claim>(&sent);
  auto of_that_job = [&](const auto& name) {
    return name.cluster == cluster && name.job == claim->job &&
           (!name.task || claim->task < 0 || *name.task == claim->task);
  };
  if (!claim || std::ranges::any_of(proven, of_that_job))
    return {};
  return failure(error_kind::failed_precondition, "a number of the job '", claim->job,
                 "' was requested with a certificate that names ", format_names(proven));
}

status check_request_rights(const peer_account& client, const message& request,
                            const task_name& task) {
  const auto& rights = client.rights;
  auto need = [&](bool right, const auto&... words) {
    return right ? status{}
                 : failure(error_kind::failed_precondition, "client '", client.name, "' may not ",
                           words..., ": the access list of ", task, " does not allow it");
  };
  // Requests to hosted sessions need the same rights as requests to the task itself.
  if (const auto* hosted = std::get_if<session_request>(&request))
    return std::visit(
        [&]<class Request>(const Request&) -> status {
          constexpr auto is = []<class... Kinds> {
            return (std::is_same_v<Request, Kinds> || ...);
          };
          if (is.template operator()<session_open, session_prepare, session_release>())
            return need(rights.may_register, "register graphs");
          if (is.template operator()<session_run, session_positions, session_initialization_end>())
            return need(rights.may_run, "run steps");
          if (is.template operator()<session_reset>())
            return need(rights.may_reset, "reset containers");
          return {};
        },
        hosted->content);
  // Other messages are refused: new kinds of requests, and answers, which only tasks send.
  return std::visit(
      [&]<class Request>(const Request&) -> status {
        constexpr auto is = []<class... Kinds> { return (std::is_same_v<Request, Kinds> || ...); };
        if (is.template operator()<register_graph, deregister_graph>())
          return need(rights.may_register, "register graphs");
        if (is.template
            operator()<run_step, cancel_step, settle_step, positions_request, initialization_end>())
          return need(rights.may_run, "run steps");
        if (is.template operator()<container_reset>())
          return need(rights.may_reset, "reset containers");
        if (is.template operator()<drain_request>())
          return need(rights.may_drain, "have the task drain");
        if (is.template operator()<device_list_request, state_list_request, inspect_request,
                                   member_changes, client_waits, goodbye>())
          return {};
        return need(false, "send ", name_of(request), ", which only tasks send");
      },
      request);
}

std::optional<message> refusal_reply(const message& request, status why) {
  if (auto* refused = std::get_if<register_graph>(&request))
    return register_reply{refused->request, 0, std::move(why)};
  if (auto* refused = std::get_if<run_step>(&request))
    return step_done{refused->request, std::move(why), {}, {}, false};
  if (auto* refused = std::get_if<positions_request>(&request))
    return positions_reply{refused->request, 0, std::move(why), {}};
  if (auto* refused = std::get_if<container_reset>(&request))
    return reply{refused->request, std::move(why)};
  if (auto* refused = std::get_if<initialization_end>(&request))
    return reply{refused->request, std::move(why)};
  if (auto* refused = std::get_if<settle_step>(&request))
    return reply{refused->request, std::move(why)};
  if (auto* refused = std::get_if<session_request>(&request))
    return session_reply{refused->request, std::move(why)};
  if (auto* refused = std::get_if<inspect_request>(&request))
    return inspect_reply{refused->request, std::move(why)};
  if (auto* refused = std::get_if<state_list_request>(&request))
    return state_list_reply{refused->request, {}, std::move(why)};
  if (auto* refused = std::get_if<drain_request>(&request))
    return reply{refused->request, std::move(why)};
  if (std::holds_alternative<number_claim>(request))
    return number_grant{.outcome = std::move(why)};
  return std::nullopt;
}

} // namespace troupe
