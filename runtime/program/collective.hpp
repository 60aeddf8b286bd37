// The collective operations of a step: which nodes are members of which group, who has come, and
// what they are to compute when all have. Knows no threads and no actors.
#pragma once
#include "troupe/runtime/device/collective_call.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/program/program.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// Whether a wait begins when its region says so; else, for what a peer sends, with the step.
bool is_asked(const wait_point& wait) noexcept;

/// A node of a group, and where its answer goes.
struct collective_member {
  const node* origin = nullptr;
  device* on = nullptr;
  device_name where = {};
  uint32_t program = 0, wait = 0;
};

/// The nodes of a step that have the same group key and instance key, in the order of their
/// devices, and on one device of their names.
struct collective_group {
  int64_t group_key = 0, instance_key = 0;
  collective_call call = {}; ///< but for the shape
  std::vector<collective_member> members = {};

  /// What to compute of these inputs, one for each member. Fails, and names two members that
  /// differ, where they do not fit.
  result<collective_call> check(std::span<const collective_part> given) const;
};

/// Finds the groups among the programs of one step on one task. Fails where members are missing, do
/// not fit together, or are on devices of two kinds.
result<std::vector<collective_group>>
find_collectives(std::span<const std::shared_ptr<const program>> programs,
                 std::span<const device_name> devices);

/// Where the members of a group meet in one step. Members may arrive from any thread; only the one
/// that came last goes on.
class collective_rendezvous {
public:
  explicit collective_rendezvous(const collective_group& of);

  enum class arrival : uint8_t {
    waits, ///< others are to come
    last,  ///< all are there: the caller takes them
    again  ///< this member had come before; nothing has happened
  };
  arrival arrive(size_t member, collective_part mine) noexcept;
  arrival arrive(size_t member, tensor input) noexcept {
    return arrive(member, {.on = group_.members[member].on, .input = std::move(input)});
  }

  /// The inputs of all; only for whoever came last, once. They are nowhere else then.
  std::vector<collective_part>& take() noexcept { return parts_; }

  /// Ready for another step. Nobody may arrive meanwhile.
  void reset() noexcept;

  const collective_group& group() const noexcept { return group_; }
  /// "2 of 4 members have come, missing are those on /device:gpu:2 and ..."; any thread may ask.
  std::string describe_missing() const;

private:
  const collective_group& group_;
  std::vector<collective_part> parts_;
  std::unique_ptr<std::atomic<bool>[]> came_;
  std::atomic<size_t> missing_;
};

} // namespace troupe
