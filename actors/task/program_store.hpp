// The programs that a task keeps, each for the connection that registered it.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/program/kernel_states.hpp"

#include <map>
#include <mutex>
#include <unordered_map>

namespace troupe {

/// Any thread may call.
class program_store {
public:
  using program_ptr = std::shared_ptr<task_program>;

  explicit program_store(std::string self) : self_(std::move(self)) {}

  /// Keeps a program and returns its handle. The program may run once it is linked, which is when
  /// all tasks that it sends to are connected. Fails if its owner is gone or has reached its limit,
  /// or if the owner is a client with limited rights and names a session of another client.
  result<uint64_t> add(program_ptr program, const connection_ptr& owner, bool linked);
  /// Links a program, because the tasks that it sends to are connected. Returns false if the
  /// program has been dropped meanwhile.
  bool link(uint64_t handle, const std::vector<peer_link>& peers);

  /// Returns whether that owner has registered programs of a session. Until its connection ends, no
  /// other client on an access list may register programs of that session.
  bool has_session(uint64_t session, const peer_connection& owner) const;

  /// Returns a program of that owner, if it may run.
  result<program_ptr> find(uint64_t handle, const peer_connection& owner) const;

  /// Drops a program; its running steps go on.
  void erase(uint64_t handle, const peer_connection& owner);
  /// Drops the programs of an owner that is gone, and refuses programs of that owner from now on.
  /// Returns these programs, and earlier dropped ones whose steps may still run.
  std::vector<program_ptr> close(peer_connection& owner);

  /// Marks programs that send through that exchange as lost: they cannot run any more. Returns
  /// those that could until now, for notifications to their owners.
  std::vector<std::pair<connection_ptr, uint64_t>> mark_lost(const caf::actor_addr& exchange,
                                                             const status& why);
  bool is_lost(uint64_t handle) const;
  void clear();

  /// Returns the states of stateful kernels of a session on a device, for one owner.
  std::shared_ptr<kernel_states> states_of(const connection_ptr& owner, uint64_t session,
                                           const std::string& device);
  /// Sets the positions of these kernels to `restore_from`, if that is not empty, and returns the
  /// current ones. Fails with resource_exhausted if positions of too many sessions are kept.
  result<kernel_positions> positions(const connection_ptr& owner, uint64_t session,
                                     const kernel_positions& restore_from);

  /// Destroys instances that have been idle since before the last call.
  void shrink();
  size_t size() const;

  /// A program, for inspection.
  struct program_entry {
    uint64_t handle = 0;
    program_ptr program;
    connection_ptr owner;
    bool linked = false;
    status lost = {};
  };
  std::vector<program_entry> list() const;

private:
  struct stored_program {
    program_ptr program;
    connection_ptr owner;
    bool linked = false;
    status lost = {}; // the loss of a task that it sends to
  };
  // The state of one owner.
  struct owner_state {
    size_t programs = 0;
    // Programs that were in use when they were dropped.
    std::vector<std::weak_ptr<task_program>> dropped = {};
    // By session and device:
    std::map<std::pair<uint64_t, std::string>, std::shared_ptr<kernel_states>> states;
    // By session: restored positions, for nodes that have no kernel yet.
    std::map<uint64_t, kernel_positions> awaited;
    std::map<uint64_t, size_t> sessions; // with their numbers of programs
  };
  // The client whose programs belong to a session.
  struct holder {
    std::shared_ptr<peer_account> account; // null: a peer with all rights
    size_t connections = 0;                // of that client that have the session
  };
  // Notes that the owner has programs of a session. Fails if a client with limited rights may not
  // have them. Called with the lock held, as is release_session().
  status hold_session(uint64_t session, const peer_connection& owner);
  void release_session(uint64_t session);

  const std::string self_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, stored_program> programs_; // by handle
  std::map<const peer_connection*, owner_state> owners_;
  std::unordered_map<uint64_t, holder> sessions_;
  uint64_t next_handle_ = 1;
};

} // namespace troupe
