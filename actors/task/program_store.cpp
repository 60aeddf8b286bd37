#include "troupe/actors/task/program_store.hpp"

#include "troupe/runtime/simulation.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr size_t max_programs = 65'536; // of one owner
// Of one connection: a session has one connection to a task.
constexpr size_t max_sessions_of_client = 64, max_awaited = 64;

} // namespace

result<uint64_t> program_store::add(program_ptr what, const connection_ptr& owner, bool linked) {
  std::lock_guard guard{mutex_};
  if (owner->gone)
    return failure(error_kind::aborted, "the program was dropped: ", owner->peer, " is gone");
  auto& count = owners_[owner.get()].programs;
  if (count >= max_programs)
    return failure(error_kind::resource_exhausted, owner->peer, " has registered ", max_programs,
                   " graphs, as many as may be; let go of steps that are not needed");
  TROUPE_TRY(hold_session(what->session(), *owner));
  if (auto* account = owner->account.get();
      account && !take_one(account->programs, account->rights.programs))
    return failure(error_kind::resource_exhausted, "client '", account->name, "' has registered ",
                   account->rights.programs,
                   " graphs, as many as it may; let go of steps that are not needed");
  ++count;
  ++owners_[owner.get()].sessions[what->session()];
  auto handle = next_handle_++;
  programs_.emplace(handle, kept{std::move(what), owner, linked});
  return handle;
}

// Ids of steps are no secrets: who sees them must not be able to end them, or to begin them first.
status program_store::hold_session(uint64_t session, const peer_connection& owner) {
  auto& those = owners_[&owner].sessions;
  if (those.contains(session))
    return {};
  const auto& account = owner.account;
  if (auto it = sessions_.find(session); it != sessions_.end() && account) {
    const auto* other = it->second.account.get();
    if (!other || other->name != account->name)
      return failure(error_kind::failed_precondition, "client '", account->name,
                     "' names a session on ", self_, " that is another's");
  }
  if (account && those.size() >= max_sessions_of_client) {
    auto unused = std::ranges::find(those, size_t{0}, [](const auto& one) { return one.second; });
    if (unused == those.end())
      return failure(error_kind::resource_exhausted, owner.peer, " has graphs of ",
                     max_sessions_of_client, " sessions on ", self_, ", as many as may be");
    let_go(unused->first);
    those.erase(unused);
  }
  auto& held = sessions_[session];
  if (held.connections++ == 0)
    held.account = account;
  those.emplace(session, 0);
  return {};
}

void program_store::let_go(uint64_t session) {
  auto it = sessions_.find(session);
  if (it != sessions_.end() && --it->second.connections == 0)
    sessions_.erase(it);
}

bool program_store::has_session(uint64_t session, const peer_connection& owner) const {
  std::lock_guard guard{mutex_};
  auto it = owners_.find(&owner);
  return it != owners_.end() && it->second.sessions.contains(session);
}

bool program_store::link(uint64_t handle, const std::vector<peer_link>& peers) {
  std::lock_guard guard{mutex_};
  auto it = programs_.find(handle);
  if (it == programs_.end())
    return false;
  it->second.linked = true;
  std::vector<caf::actor> exchanges;
  for (const auto& one : peers) {
    exchanges.push_back(one.exchange);
    if (one.via && one.via->gone) {
      TROUPE_REACHED("a task is lost before a program that sends to it is linked");
      it->second.lost =
          failure(error_kind::unavailable, self_, " cannot send: ", one.task, " is gone");
    }
  }
  it->second.program->set_exchanges(std::move(exchanges));
  return true;
}

result<program_store::program_ptr> program_store::find(uint64_t handle,
                                                       const peer_connection& owner) const {
  std::lock_guard guard{mutex_};
  auto it = programs_.find(handle);
  if (it == programs_.end() || it->second.owner.get() != &owner) {
    return failure(error_kind::aborted, self_, " knows no program ", handle, " of ", owner.peer,
                   "; it may have been restarted: prepare the step again");
  }
  if (!it->second.linked)
    return failure(error_kind::failed_precondition, self_, " has not registered program ", handle,
                   " yet: run steps of it when register_graph is answered");
  if (!it->second.lost) {
    TROUPE_REACHED("a program that sends to a lost task is to run");
    return it->second.lost;
  }
  return it->second.program;
}

void program_store::erase(uint64_t handle, const peer_connection& owner) {
  program_ptr last; // goes when the lock is free
  std::lock_guard guard{mutex_};
  auto it = programs_.find(handle);
  if (it == programs_.end() || it->second.owner.get() != &owner)
    return;
  last = std::move(it->second.program);
  programs_.erase(it);
  auto& of = owners_[&owner];
  --of.programs;
  // Steps of what a client lets go may still run, and be cancelled.
  if (auto of_session = of.sessions.find(last->session());
      of_session != of.sessions.end() && --of_session->second == 0 && !owner.account) {
    let_go(of_session->first);
    of.sessions.erase(of_session);
  }
  std::erase_if(of.dropped, [](const auto& one) { return one.expired(); });
  of.dropped.push_back(last);
  if (owner.account)
    --owner.account->programs;
}

std::vector<program_store::program_ptr> program_store::close(peer_connection& owner) {
  std::vector<program_ptr> dropped;
  owned states;
  std::lock_guard guard{mutex_};
  owner.gone = true;
  std::erase_if(programs_, [&](auto& entry) {
    if (entry.second.owner.get() != &owner)
      return false;
    dropped.push_back(std::move(entry.second.program));
    return true;
  });
  if (auto it = owners_.find(&owner); it != owners_.end()) {
    states = std::move(it->second);
    owners_.erase(it);
    for (const auto& [session, count] : states.sessions)
      let_go(session);
  }
  if (owner.account)
    owner.account->programs -= dropped.size();
  for (const auto& one : states.dropped)
    if (auto running = one.lock())
      dropped.push_back(std::move(running));
  return dropped;
}

std::vector<std::pair<connection_ptr, uint64_t>>
program_store::lose(const caf::actor_addr& exchange, const status& why) {
  std::vector<std::pair<connection_ptr, uint64_t>> lost;
  std::lock_guard guard{mutex_};
  for (auto& [handle, one] : programs_)
    if (one.lost && one.program->sends_through(exchange)) {
      one.lost = status{why}.within(concat(self_, " cannot send"));
      lost.emplace_back(one.owner, handle);
    }
  return lost;
}

bool program_store::is_lost(uint64_t handle) const {
  std::lock_guard guard{mutex_};
  auto it = programs_.find(handle);
  return it != programs_.end() && !it->second.lost;
}

void program_store::clear() {
  std::unordered_map<uint64_t, kept> programs; // these go when the lock is free
  std::map<const peer_connection*, owned> owners;
  std::lock_guard guard{mutex_};
  std::swap(programs, programs_);
  std::swap(owners, owners_);
  sessions_.clear();
}

std::shared_ptr<kernel_states>
program_store::states_of(const connection_ptr& owner, uint64_t session, const std::string& device) {
  std::lock_guard guard{mutex_};
  if (owner->gone) // nothing comes of it
    return std::make_shared<kernel_states>();
  auto& of = owners_[owner.get()];
  auto& found = of.states[{session, device}];
  if (!found) {
    auto awaited = of.awaited.find(session);
    found = std::make_shared<kernel_states>(awaited == of.awaited.end() ? kernel_positions{}
                                                                        : awaited->second);
  }
  return found;
}

result<kernel_positions> program_store::positions(const connection_ptr& owner, uint64_t session,
                                                  const kernel_positions& go_on_from) {
  TROUPE_TRY(check_positions(go_on_from));
  std::vector<std::shared_ptr<kernel_states>> all;
  {
    std::lock_guard guard{mutex_};
    if (owner->gone) // nothing comes of it
      return kernel_positions{};
    auto& of = owners_[owner.get()];
    if (!go_on_from.empty()) {
      if (!of.awaited.contains(session) && of.awaited.size() >= max_awaited)
        return failure(error_kind::resource_exhausted, self_, " keeps positions of ", max_awaited,
                       " sessions of ", owner->peer, ", as many as may be");
      of.awaited[session] = go_on_from;
    }
    for (const auto& [key, states] : of.states)
      if (key.first == session)
        all.push_back(states);
  }
  for (const auto& states : all)
    TROUPE_TRY(states->go_on(go_on_from));
  kernel_positions found;
  for (const auto& states : all)
    states->add_positions(found);
  return found;
}

void program_store::shrink() {
  std::vector<program_ptr> all;
  {
    std::lock_guard guard{mutex_};
    for (const auto& [handle, one] : programs_)
      all.push_back(one.program);
  }
  for (const auto& one : all)
    one->shrink();
}

std::vector<program_store::listed> program_store::all() const {
  std::lock_guard guard{mutex_};
  std::vector<listed> found;
  for (const auto& [handle, one] : programs_)
    found.push_back({handle, one.program, one.owner, one.linked, one.lost});
  std::ranges::sort(found, {}, &listed::handle);
  return found;
}

size_t program_store::size() const {
  std::lock_guard guard{mutex_};
  return programs_.size();
}

} // namespace troupe
