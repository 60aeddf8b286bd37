#include "troupe/actors/resources.hpp"

#include "troupe/actors/responder.hpp"

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

// Containers stay, so that references to them do.
container& resources::container_of(const std::string& name) {
  std::lock_guard guard{mutex_};
  return containers_[name];
}

result<std::shared_ptr<named_state>> resources::find(const node& maker,
                                                     const std::string& fallback) {
  auto [held_by, name] = full_name(maker, fallback);
  return container_of(held_by).find_or_add(maker.op().make(maker, name));
}

result<caf::actor> resources::find_responder(const node& maker, const std::string& fallback,
                                             task_program& program) {
  auto [held_by, name] = full_name(maker, fallback);
  TROUPE_ASSIGN(auto declared, responder_state::declare(maker, name));
  auto found = container_of(held_by).find_or_add(std::move(declared));
  if (!found)
    return within(maker, found.status());
  auto actor = static_cast<responder_state&>(**found).actor(system_);
  program.keep(*std::move(found));
  std::lock_guard guard{mutex_};
  std::erase_if(responders_, [](const auto& one) { return !caf::actor_cast<caf::actor>(one); });
  if (std::ranges::find(responders_, actor.address()) == responders_.end())
    responders_.push_back(actor.address());
  return actor;
}

void resources::reset(const std::string& name) {
  container* found = nullptr;
  {
    std::lock_guard guard{mutex_};
    auto it = containers_.find(name);
    found = it == containers_.end() ? nullptr : &it->second;
  }
  if (found)
    found->clear();
}

void resources::close() {
  std::lock_guard guard{mutex_};
  for (const auto& one : responders_)
    if (auto actor = caf::actor_cast<caf::actor>(one))
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

} // namespace troupe
