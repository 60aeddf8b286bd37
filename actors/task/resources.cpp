#include "troupe/actors/task/resources.hpp"

#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/long_worker.hpp"
#include "troupe/actors/execution/waitable_state.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace troupe {
namespace {

// Returns the container and the name of a variable, queue or table.
std::pair<std::string, std::string> full_name(const node& maker, const std::string& fallback) {
  auto text = [&](std::string_view attr) {
    auto position = maker.attrs().find(attr);
    return position == maker.attrs().end() ? std::string{}
                                           : *position->second.get_if<std::string>();
  };
  auto container_name = text("container"), shared = text("shared_name");
  return {container_name.empty() ? fallback : container_name,
          shared.empty() ? maker.name() : shared};
}

} // namespace

// Disks serve two or three requests at once; more threads would only wait for each other.
resources::resources(caf::actor_system& system)
    : system_(system), files_(std::make_shared<file_threads>(has_threads(system) ? 3 : 0)) {}

resources::~resources() { files_->close(); }

// Removes empty containers first, because clients may name any number of them.
result<std::shared_ptr<named_state>> resources::find_or_add(const std::string& container_name,
                                                            std::shared_ptr<named_state> declared) {
  std::lock_guard guard{mutex_};
  if (!containers_.contains(container_name))
    std::erase_if(containers_, [](const auto& entry) { return entry.second->unused(); });
  auto& named_container = containers_[container_name];
  if (!named_container)
    named_container = std::make_shared<container>();
  return named_container->find_or_add(std::move(declared));
}

result<std::shared_ptr<named_state>> resources::find(const node& maker,
                                                     const std::string& fallback) {
  auto [container_name, name] = full_name(maker, fallback);
  return find_or_add(container_name, maker.op().create_state(maker, name));
}

result<caf::actor> resources::find_long_worker() {
  std::lock_guard guard{mutex_};
  if (closed_)
    return failure(error_kind::cancelled, "the task shuts down");
  if (!long_worker_)
    long_worker_ = spawn_long_worker(system_);
  return long_worker_;
}

result<caf::actor> resources::find_waitable_resource(const node& maker, const std::string& fallback,
                                                     task_program& program) {
  if (!maker.op().make_waitable_resource)
    return find_long_worker();
  auto [container_name, name] = full_name(maker, fallback);
  TROUPE_ASSIGN(auto declared, waitable_state::declare(maker, name));
  auto state = find_or_add(container_name, std::move(declared));
  if (!state)
    return with_node_context(maker, state.status());
  auto actor = static_cast<waitable_state&>(**state).actor(system_, files_);
  program.keep(*std::move(state));
  std::lock_guard guard{mutex_};
  std::erase_if(waitable_resources_,
                [](const auto& address) { return !caf::actor_cast<caf::actor>(address); });
  if (std::ranges::find(waitable_resources_, actor.address()) == waitable_resources_.end())
    waitable_resources_.push_back(actor.address());
  return actor;
}

void resources::reset(const std::string& name) {
  std::shared_ptr<container> named_container;
  {
    std::lock_guard guard{mutex_};
    if (auto position = containers_.find(name); position != containers_.end())
      named_container = position->second;
  }
  if (!named_container)
    return;
  named_container->clear(); // notifies the waiting steps
  std::lock_guard guard{mutex_};
  if (auto position = containers_.find(name);
      position != containers_.end() && position->second->unused())
    containers_.erase(position);
}

// Describes the state without the lock: long queues take time, and other threads must not wait.
state_list resources::list(const std::string& task) const {
  std::vector<std::pair<std::string, std::shared_ptr<container>>> containers;
  {
    std::lock_guard guard{mutex_};
    containers.assign(containers_.begin(), containers_.end());
  }
  state_list listed;
  size_t text = 0;
  for (const auto& [name, named_container] : containers)
    for (const auto& state : named_container->list()) {
      if (listed.omitted_entries > 0 || listed.entries.size() >= state_list::max_entries) {
        ++listed.omitted_entries;
        continue;
      }
      auto info = state->describe();
      info.task = task;
      info.container = name;
      text += name.size() + info.name.size() + info.holds.size() + info.content.size();
      if (text > state_list::max_text)
        ++listed.omitted_entries;
      else
        listed.entries.push_back(std::move(info));
    }
  return listed;
}

std::vector<std::pair<std::string, resources::states>> resources::all() const {
  std::vector<std::pair<std::string, std::shared_ptr<container>>> containers;
  {
    std::lock_guard guard{mutex_};
    containers.assign(containers_.begin(), containers_.end());
  }
  std::vector<std::pair<std::string, states>> states_by_name;
  for (const auto& [name, named_container] : containers)
    states_by_name.emplace_back(name, named_container->list());
  return states_by_name;
}

void resources::close() {
  std::lock_guard guard{mutex_};
  closed_ = true;
  if (long_worker_)
    caf::anon_send_exit(std::exchange(long_worker_, {}), caf::exit_reason::user_shutdown);
  for (const auto& address : waitable_resources_)
    if (auto actor = caf::actor_cast<caf::actor>(address))
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

} // namespace troupe
