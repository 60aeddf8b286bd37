// The collective operations of a step: the members of each group, their arrivals, and the
// computation once all have arrived. Knows no threads and no actors.
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

/// Returns whether a wait begins when its region requests it; waits for tensors of peers begin with
/// the step.
bool begins_on_request(const wait_point& wait) noexcept;

/// A node of a group, and the wait that its answer ends.
struct collective_member {
  const node* origin = nullptr;
  device* target = nullptr;
  device_name location = {};
  uint32_t program = 0, wait = 0;
};

/// The nodes of a step that have the same group key and instance key, ordered by device, and on one
/// device by name.
struct collective_group {
  int64_t group_key = 0, instance_key = 0;
  collective_call call = {}; ///< without the shape
  std::vector<collective_member> members = {};

  /// Returns the computation for these inputs, one for each member. Fails if the inputs do not
  /// match, and names two members that differ.
  result<collective_call> check(std::span<const collective_part> parts) const;
};

/// Finds the groups among the programs of one step on one task. Fails if members are missing,
/// contradict each other, or are on devices of two kinds.
result<std::vector<collective_group>>
find_collectives(std::span<const std::shared_ptr<const program>> programs,
                 std::span<const device_name> devices);

/// Collects the parts of a group's members in one step. Members may arrive on any thread. The
/// caller of the last arrival runs the collective call.
class collective_rendezvous {
public:
  explicit collective_rendezvous(const collective_group& group);

  enum class arrival : uint8_t {
    waits, ///< members are missing
    last,  ///< all members have arrived: the caller takes the parts
    again  ///< this member had arrived before; nothing was changed
  };
  arrival arrive(size_t member, collective_part part) noexcept;
  arrival arrive(size_t member, tensor input) noexcept {
    return arrive(member, {.target = group_.members[member].target, .input = std::move(input)});
  }

  /// The parts of all members. Only the caller of the last arrival may take them, once.
  std::vector<collective_part>& parts() noexcept { return parts_; }

  /// Prepares for another step. No member may arrive meanwhile.
  void reset() noexcept;

  const collective_group& group() const noexcept { return group_; }
  /// Returns "2 of 4 members have arrived, missing: /device:gpu:2, /device:gpu:3". Any thread may
  /// call.
  std::string describe_missing() const;

private:
  const collective_group& group_;
  std::vector<collective_part> parts_;
  std::unique_ptr<std::atomic<bool>[]> arrived_;
  std::atomic<size_t> missing_;
};

} // namespace troupe
