#include "troupe/actors/task/program_store.hpp"

#include "troupe/runtime/simulation.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr size_t max_programs = 65'536; // of one owner
// Limits of one connection: a session has one connection to a task.
constexpr size_t max_sessions_of_client = 64, max_awaited = 64;

} // namespace

result<uint64_t> program_store::add(program_ptr program, const connection_ptr& owner, bool linked) {
  std::lock_guard guard{mutex_};
  if (owner->is_closed)
    return failure(error_kind::aborted, "the program was dropped: ", owner->peer, " is gone");
  auto& count = owners_[owner.get()].programs;
  if (count >= max_programs)
    return failure(error_kind::resource_exhausted, owner->peer, " has registered ", max_programs,
                   " graphs, which is the limit; release steps that are not needed");
  TROUPE_TRY(hold_session(program->session(), *owner));
  if (auto* account = owner->account.get();
      account && !acquire_slot(account->programs, account->rights.programs))
    return failure(error_kind::resource_exhausted, "client '", account->name, "' has registered ",
                   account->rights.programs,
                   " graphs, which is its limit; release steps that are not needed");
  ++count;
  ++owners_[owner.get()].sessions[program->session()];
  auto handle = next_handle_++;
  programs_.emplace(handle, stored_program{std::move(program), owner, linked});
  return handle;
}

// Ids of steps are not secret: a client that knows them must not be able to end the steps, or to
// begin them first.
status program_store::hold_session(uint64_t session, const peer_connection& owner) {
  auto& sessions = owners_[&owner].sessions;
  if (sessions.contains(session))
    return {};
  const auto& account = owner.account;
  if (auto position = sessions_.find(session); position != sessions_.end() && account) {
    const auto* other = position->second.account.get();
    if (!other || other->name != account->name)
      return failure(error_kind::failed_precondition, "client '", account->name,
                     "' names a session on ", self_, " that belongs to another client");
  }
  if (account && sessions.size() >= max_sessions_of_client) {
    auto unused = std::ranges::find(sessions, size_t{0},
                                    [](const auto& session_count) { return session_count.second; });
    if (unused == sessions.end())
      return failure(error_kind::resource_exhausted, owner.peer, " has graphs of ",
                     max_sessions_of_client, " sessions on ", self_, ", which is the limit");
    release_session(unused->first);
    sessions.erase(unused);
  }
  auto& session_holder = sessions_[session];
  if (session_holder.connections++ == 0)
    session_holder.account = account;
  sessions.emplace(session, 0);
  return {};
}

void program_store::release_session(uint64_t session) {
  auto position = sessions_.find(session);
  if (position != sessions_.end() && --position->second.connections == 0)
    sessions_.erase(position);
}

bool program_store::has_session(uint64_t session, const peer_connection& owner) const {
  std::lock_guard guard{mutex_};
  auto position = owners_.find(&owner);
  return position != owners_.end() && position->second.sessions.contains(session);
}

bool program_store::link(uint64_t handle, const std::vector<peer_link>& peers) {
  std::lock_guard guard{mutex_};
  auto position = programs_.find(handle);
  if (position == programs_.end())
    return false;
  position->second.linked = true;
  std::vector<caf::actor> exchanges;
  for (const auto& peer : peers) {
    exchanges.push_back(peer.exchange);
    if (peer.connection && peer.connection->is_closed) {
      TROUPE_REACHED("a task is lost before a program that sends to it is linked");
      position->second.lost =
          failure(error_kind::unavailable, self_, " cannot send: ", peer.task, " is gone");
    }
  }
  position->second.program->set_exchanges(std::move(exchanges));
  return true;
}

result<program_store::program_ptr> program_store::find(uint64_t handle,
                                                       const peer_connection& owner) const {
  std::lock_guard guard{mutex_};
  auto position = programs_.find(handle);
  if (position == programs_.end() || position->second.owner.get() != &owner) {
    return failure(error_kind::aborted, self_, " has no program ", handle, " of ", owner.peer,
                   "; it may have been restarted: prepare the step again");
  }
  if (!position->second.linked)
    return failure(error_kind::failed_precondition, self_, " has not registered program ", handle,
                   " yet: run steps of it when register_graph is answered");
  if (!position->second.lost) {
    TROUPE_REACHED("a program that sends to a lost task is to run");
    return position->second.lost;
  }
  return position->second.program;
}

void program_store::erase(uint64_t handle, const peer_connection& owner) {
  program_ptr program; // released after the lock
  std::lock_guard guard{mutex_};
  auto position = programs_.find(handle);
  if (position == programs_.end() || position->second.owner.get() != &owner)
    return;
  program = std::move(position->second.program);
  programs_.erase(position);
  auto& owner_entry = owners_[&owner];
  --owner_entry.programs;
  // Running steps of a program that a client drops may still be cancelled.
  if (auto session = owner_entry.sessions.find(program->session());
      session != owner_entry.sessions.end() && --session->second == 0 && !owner.account) {
    release_session(session->first);
    owner_entry.sessions.erase(session);
  }
  std::erase_if(owner_entry.dropped,
                [](const auto& weak_program) { return weak_program.expired(); });
  owner_entry.dropped.push_back(program);
  if (owner.account)
    --owner.account->programs;
}

std::vector<program_store::program_ptr> program_store::close(peer_connection& owner) {
  std::vector<program_ptr> dropped;
  owner_state closed_owner; // released after the lock
  std::lock_guard guard{mutex_};
  owner.is_closed = true;
  std::erase_if(programs_, [&](auto& entry) {
    if (entry.second.owner.get() != &owner)
      return false;
    dropped.push_back(std::move(entry.second.program));
    return true;
  });
  if (auto position = owners_.find(&owner); position != owners_.end()) {
    closed_owner = std::move(position->second);
    owners_.erase(position);
    for (const auto& [session, count] : closed_owner.sessions)
      release_session(session);
  }
  if (owner.account)
    owner.account->programs -= dropped.size();
  for (const auto& weak_program : closed_owner.dropped)
    if (auto running = weak_program.lock())
      dropped.push_back(std::move(running));
  return dropped;
}

std::vector<std::pair<connection_ptr, uint64_t>>
program_store::mark_lost(const caf::actor_addr& exchange, const status& why) {
  std::vector<std::pair<connection_ptr, uint64_t>> lost;
  std::lock_guard guard{mutex_};
  for (auto& [handle, entry] : programs_)
    if (entry.lost && entry.program->sends_through(exchange)) {
      entry.lost = status{why}.with_context(concat(self_, " cannot send"));
      lost.emplace_back(entry.owner, handle);
    }
  return lost;
}

bool program_store::is_lost(uint64_t handle) const {
  std::lock_guard guard{mutex_};
  auto position = programs_.find(handle);
  return position != programs_.end() && !position->second.lost;
}

void program_store::clear() {
  std::unordered_map<uint64_t, stored_program> programs; // released after the lock
  std::map<const peer_connection*, owner_state> owners;
  std::lock_guard guard{mutex_};
  std::swap(programs, programs_);
  std::swap(owners, owners_);
  sessions_.clear();
}

std::shared_ptr<kernel_states>
program_store::states_of(const connection_ptr& owner, uint64_t session, const std::string& device) {
  std::lock_guard guard{mutex_};
  if (owner->is_closed) // the request is dropped
    return std::make_shared<kernel_states>();
  auto& owner_entry = owners_[owner.get()];
  auto& states = owner_entry.states[{session, device}];
  if (!states) {
    auto awaited = owner_entry.awaited.find(session);
    states = std::make_shared<kernel_states>(
        awaited == owner_entry.awaited.end() ? kernel_positions{} : awaited->second);
  }
  return states;
}

result<kernel_positions> program_store::positions(const connection_ptr& owner, uint64_t session,
                                                  const kernel_positions& restore_from) {
  TROUPE_TRY(check_positions(restore_from));
  std::vector<std::shared_ptr<kernel_states>> session_states;
  {
    std::lock_guard guard{mutex_};
    if (owner->is_closed) // the request is dropped
      return kernel_positions{};
    auto& owner_entry = owners_[owner.get()];
    if (!restore_from.empty()) {
      if (!owner_entry.awaited.contains(session) && owner_entry.awaited.size() >= max_awaited)
        return failure(error_kind::resource_exhausted, self_, " keeps positions of ", max_awaited,
                       " sessions of ", owner->peer, ", which is the limit");
      owner_entry.awaited[session] = restore_from;
    }
    for (const auto& [key, states] : owner_entry.states)
      if (key.first == session)
        session_states.push_back(states);
  }
  for (const auto& states : session_states)
    TROUPE_TRY(states->restore_positions(restore_from));
  kernel_positions current;
  for (const auto& states : session_states)
    states->add_positions(current);
  return current;
}

void program_store::shrink() {
  std::vector<program_ptr> programs;
  {
    std::lock_guard guard{mutex_};
    for (const auto& [handle, entry] : programs_)
      programs.push_back(entry.program);
  }
  for (const auto& program : programs)
    program->shrink();
}

std::vector<program_store::program_entry> program_store::list() const {
  std::lock_guard guard{mutex_};
  std::vector<program_entry> programs;
  for (const auto& [handle, entry] : programs_)
    programs.push_back({handle, entry.program, entry.owner, entry.linked, entry.lost});
  std::ranges::sort(programs, {}, &program_entry::handle);
  return programs;
}

size_t program_store::size() const {
  std::lock_guard guard{mutex_};
  return programs_.size();
}

} // namespace troupe
