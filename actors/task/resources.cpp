#include "troupe/actors/task/resources.hpp"

#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/long_worker.hpp"
#include "troupe/actors/execution/responder.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

// The name that a variable, queue or table has among all sessions.
std::pair<std::string, std::string> full_name(const node& maker, const std::string& fallback) {
  auto text = [&](std::string_view attr) {
    auto it = maker.attrs().find(attr);
    return it == maker.attrs().end() ? std::string{} : *it->second.get_if<std::string>();
  };
  auto held_by = text("container"), shared = text("shared_name");
  return {held_by.empty() ? fallback : held_by, shared.empty() ? maker.name() : shared};
}

} // namespace

// Disks take two or three requests at once; more threads would only wait for each other.
resources::resources(caf::actor_system& system)
    : system_(system), input_(std::make_shared<input_threads>(has_threads(system) ? 3 : 0)) {}

resources::~resources() { input_->close(); }

// A container of which nothing is left goes: clients may name as many as they like.
result<std::shared_ptr<named_state>> resources::find_or_add(const std::string& held_by,
                                                            std::shared_ptr<named_state> declared) {
  std::lock_guard guard{mutex_};
  if (!containers_.contains(held_by))
    std::erase_if(containers_, [](const auto& one) { return one.second->unused(); });
  auto& in = containers_[held_by];
  if (!in)
    in = std::make_shared<container>();
  return in->find_or_add(std::move(declared));
}

result<std::shared_ptr<named_state>> resources::find(const node& maker,
                                                     const std::string& fallback) {
  auto [held_by, name] = full_name(maker, fallback);
  return find_or_add(held_by, maker.op().make(maker, name));
}

result<caf::actor> resources::find_long_worker() {
  std::lock_guard guard{mutex_};
  if (closed_)
    return failure(error_kind::cancelled, "the task shuts down");
  if (!long_worker_)
    long_worker_ = spawn_long_worker(system_);
  return long_worker_;
}

result<caf::actor> resources::find_responder(const node& maker, const std::string& fallback,
                                             task_program& program) {
  if (!maker.op().make_responder)
    return find_long_worker();
  auto [held_by, name] = full_name(maker, fallback);
  TROUPE_ASSIGN(auto declared, responder_state::declare(maker, name));
  auto found = find_or_add(held_by, std::move(declared));
  if (!found)
    return within(maker, found.status());
  auto actor = static_cast<responder_state&>(**found).actor(system_, input_);
  program.keep(*std::move(found));
  std::lock_guard guard{mutex_};
  std::erase_if(responders_, [](const auto& one) { return !caf::actor_cast<caf::actor>(one); });
  if (std::ranges::find(responders_, actor.address()) == responders_.end())
    responders_.push_back(actor.address());
  return actor;
}

void resources::reset(const std::string& name) {
  std::shared_ptr<container> found;
  {
    std::lock_guard guard{mutex_};
    if (auto it = containers_.find(name); it != containers_.end())
      found = it->second;
  }
  if (!found)
    return;
  found->clear(); // who waits is told so here
  std::lock_guard guard{mutex_};
  if (auto it = containers_.find(name); it != containers_.end() && it->second->unused())
    containers_.erase(it);
}

// Described without the lock: nobody waits until a long queue has been looked through.
state_list resources::list(const std::string& task) const {
  std::vector<std::pair<std::string, std::shared_ptr<container>>> all;
  {
    std::lock_guard guard{mutex_};
    all.assign(containers_.begin(), containers_.end());
  }
  state_list made;
  size_t text = 0;
  for (const auto& [name, held] : all)
    for (const auto& one : held->all()) {
      if (made.left_out > 0 || made.entries.size() >= state_list::max_entries) {
        ++made.left_out;
        continue;
      }
      auto about = one->describe();
      about.task = task;
      about.container = name;
      text += name.size() + about.name.size() + about.holds.size() + about.content.size();
      if (text > state_list::max_text)
        ++made.left_out;
      else
        made.entries.push_back(std::move(about));
    }
  return made;
}

std::vector<std::pair<std::string, resources::states>> resources::all() const {
  std::vector<std::pair<std::string, std::shared_ptr<container>>> held;
  {
    std::lock_guard guard{mutex_};
    held.assign(containers_.begin(), containers_.end());
  }
  std::vector<std::pair<std::string, states>> found;
  for (const auto& [name, one] : held)
    found.emplace_back(name, one->all());
  return found;
}

void resources::close() {
  std::lock_guard guard{mutex_};
  closed_ = true;
  if (long_worker_)
    caf::anon_send_exit(std::exchange(long_worker_, {}), caf::exit_reason::user_shutdown);
  for (const auto& one : responders_)
    if (auto actor = caf::actor_cast<caf::actor>(one))
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

} // namespace troupe
