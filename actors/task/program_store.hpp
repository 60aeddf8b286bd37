// The programs that a task keeps, each for the connection that it came by.
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

  /// Keeps a program and returns its handle. It may run once it is linked: when all tasks that it
  /// sends to are reached. Fails when its owner is gone, or has too many, or may not do everything
  /// and names a session that another has programs of.
  result<uint64_t> add(program_ptr what, const connection_ptr& owner, bool linked);
  /// The tasks that it sends to are reached. Returns false when the program has been dropped
  /// meanwhile.
  bool link(uint64_t handle, const std::vector<peer_link>& peers);

  /// Says whether that owner has registered programs of a session; until its connection ends, no
  /// client on an access list may do so but it.
  bool has_session(uint64_t session, const peer_connection& owner) const;

  /// Finds a program of that owner that may run.
  result<program_ptr> find(uint64_t handle, const peer_connection& owner) const;

  /// Drops a program; steps of it that run go on.
  void erase(uint64_t handle, const peer_connection& owner);
  /// The owner is gone: drops its programs, and all that it would add. Returns them, and those
  /// dropped before whose steps may still run.
  std::vector<program_ptr> close(peer_connection& owner);

  /// Tensors that programs send through that exchange are lost: they run no more. Returns those
  /// that could until now, to be told to their owners.
  std::vector<std::pair<connection_ptr, uint64_t>> lose(const caf::actor_addr& exchange,
                                                        const status& why);
  bool is_lost(uint64_t handle) const;
  void clear();

  /// What stateful kernels of a session keep on a device, for one owner.
  std::shared_ptr<kernel_states> states_of(const connection_ptr& owner, uint64_t session,
                                           const std::string& device);
  /// Has what they keep go on from these positions, if there are any, and says where it stands.
  /// Fails with resource_exhausted where they would be kept for too many sessions.
  result<kernel_positions> positions(const connection_ptr& owner, uint64_t session,
                                     const kernel_positions& go_on_from);

  /// Lets instances go that have been idle since before the last call.
  void shrink();
  size_t size() const;

  /// One of them, for people.
  struct listed {
    uint64_t handle = 0;
    program_ptr program;
    connection_ptr owner;
    bool linked = false;
    status lost = {};
  };
  std::vector<listed> all() const;

private:
  struct kept {
    program_ptr program;
    connection_ptr owner;
    bool linked = false;
    status lost = {}; // a task that it sends to
  };
  struct owned {
    size_t programs = 0;
    std::vector<std::weak_ptr<task_program>> dropped = {}; // that something still held then
    std::map<std::pair<uint64_t, std::string>, std::shared_ptr<kernel_states>> states;
    std::map<uint64_t, kernel_positions> awaited; // by session: of nodes that have not been seen
    std::map<uint64_t, size_t> sessions;          // and how many programs of each there are
  };
  struct holder {                          // of a session
    std::shared_ptr<peer_account> account; // none: one who may do everything
    size_t connections = 0;
  };
  status hold_session(uint64_t session, const peer_connection& owner);
  void let_go(uint64_t session);

  const std::string self_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, kept> programs_;
  std::map<const peer_connection*, owned> owners_;
  std::unordered_map<uint64_t, holder> sessions_;
  uint64_t next_handle_ = 1;
};

} // namespace troupe
