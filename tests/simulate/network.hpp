// Connections between simulated processes: bytes are delayed, divided, stalled and lost.
#pragma once
#include "tests/simulate/core.hpp"
#include "tests/simulate/process.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/exchange.hpp"

#include <deque>
#include <map>

namespace troupe::simulate {

/// Network -> listener: a peer has connected.
struct accepted {
  uint64_t wire = 0;
};

/// Hosts are numbered; each host runs one process at a time.
class network final : public socket_states {
public:
  explicit network(core& simulation);
  ~network();

  /// How a membership in that process reaches its peers.
  membership_transport transport(process& from_process);
  /// From now on, calls to this address reach that listener.
  void listen(const std::string& address, process& at, const caf::actor& listener);
  /// The exchange of an accepted connection.
  caf::actor open_accepted(uint64_t wire, process& at, exchange_options options);

  enum class departure { orderly, crashed, silent };
  /// The process is gone, or about to end; it receives nothing any more.
  void leave(process& leaver, departure leave_mode);

  /// From now on, its connections belong to another host.
  void move(process& mover, std::string name, size_t to);
  void block(size_t from, size_t to) { ++blocked_[{from, to}]; }
  void unblock(size_t from, size_t to);
  bool readable(int socket) const override;
  bool writable(int socket) const override;
  /// Loses one randomly chosen connection; returns its hosts, if there was one.
  std::optional<std::pair<size_t, size_t>> lose_one(dice& chance);
  /// The same for the connections between two hosts.
  std::optional<std::pair<size_t, size_t>> lose_between(size_t first_host, size_t second_host,
                                                        dice& chance);
  size_t connections() const noexcept { return wires_.size(); }

private:
  friend class wire_stream;
  template <class Choose>
  std::optional<std::pair<size_t, size_t>> lose(dice& chance, Choose choose);
  struct segment {
    time_point when;
    std::vector<char> bytes;
    size_t taken = 0;
  };
  struct end {
    size_t host = 0;
    process* owner = nullptr; // null: gone
    bool silent = false;      // the other end is not notified that this one is gone
    bool attached = false;    // attached to an exchange
    bool finished = false;    // writes no more; bytes already written are still sent
    bool closed = false;
    std::deque<segment> outgoing;
    size_t unsent = 0;
    time_point last; // last delivery time of this end's bytes
    bool pumping = false;
    std::vector<char> inbox; // received bytes
    size_t read = 0;         // read position in the inbox
    bool end_notified = false, at_end = false, is_reset = false;

    size_t unread() const { return inbox.size() - read; }
  };
  struct wire {
    end ends[2];
    bool lost = false;
  };
  struct call {
    process* from;
    dial_result dialed;
    std::string address;
    std::shared_ptr<std::atomic<bool>> stop;
    caf::actor reply;
    duration pause = std::chrono::milliseconds{20};
  };
  struct place {
    process* at = nullptr;
    size_t host = 0;
    bool silent = false;
    caf::actor listener;
  };

  duration latency();
  bool blocked(size_t from, size_t to) const { return blocked_.contains({from, to}); }
  void attempt(uint64_t call_id);
  caf::actor attach(uint64_t id, int side, process& at, exchange_options options);
  void wake(uint64_t id, int side);
  const end* end_at(int socket) const;
  size_t room(const end& sender) const;
  ssize_t read(uint64_t id, int side, std::span<const iovec> places);
  ssize_t write(uint64_t id, int side, std::span<const iovec> pieces);
  void finish(uint64_t id, int side);
  void close(uint64_t id, int side);
  void pump(uint64_t id, int side);
  void deliver(uint64_t id, int side);
  /// Notifies the owner of this end that the other end has finished, or that the connection is
  /// lost.
  void end_of(uint64_t id, int side, duration later, bool lost);
  void drop_if_over(uint64_t id);
  std::string_view name_of(const end& which_end) const;

  core& core_;
  dice chance_;
  std::map<uint64_t, wire> wires_;
  std::map<uint64_t, call> calls_;
  std::map<std::string, place> places_;
  std::map<std::pair<size_t, size_t>, int> blocked_;
  uint64_t next_ = 1;
};

} // namespace troupe::simulate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::simulate::accepted)
