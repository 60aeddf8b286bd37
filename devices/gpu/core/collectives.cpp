#include "troupe/devices/gpu/core/collectives.hpp"

#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace troupe::gpu {
namespace {

// Locked while a collective call is launched on a device.
struct launch_order {
  std::mutex mutex;
};

// The communicator of devices on one GPU, which read each other's memory. NCCL does not accept
// several members on one GPU.
class exchange_by_events final : public communicator {
public:
  static result<std::shared_ptr<communicator>> make(std::span<driver* const> drivers) {
    auto created = std::make_shared<exchange_by_events>();
    for (auto* member_driver : drivers) {
      auto& member = created->members_.emplace_back(member_driver);
      TROUPE_ASSIGN(member.ready, member_driver->make_event());
      TROUPE_ASSIGN(member.done, member_driver->make_event());
    }
    return std::shared_ptr<communicator>{std::move(created)};
  }
  ~exchange_by_events() override {
    for (auto& member : members_)
      for (auto owned_event : {member.ready, member.done})
        if (owned_event)
          member.owner->destroy(owned_event);
  }

  status launch(const collective_call& call, std::span<const share> shares) override {
    TROUPE_TRY(record(shares, &member_events::ready));
    TROUPE_TRY(await(shares, &member_events::ready));
    for (size_t i = 0; i < shares.size(); ++i)
      TROUPE_TRY(compute(call, shares, i));
    TROUPE_TRY(record(shares, &member_events::done));
    return await(shares,
                 &member_events::done); // all have read their peers' inputs before these change
  }
  // Without an action, because the events always pass.
  void abort(const status&) noexcept override {}

private:
  struct member_events {
    explicit member_events(driver* member_driver) : owner(member_driver) {}
    driver* owner;
    event ready = nullptr, done = nullptr;
  };

  status record(std::span<const share> shares, event member_events::*kind) {
    for (size_t i = 0; i < shares.size(); ++i)
      TROUPE_TRY(shares[i].of->record(members_[i].*kind, shares[i].in));
    return {};
  }
  status await(std::span<const share> shares, event member_events::*kind) {
    for (size_t i = 0; i < shares.size(); ++i)
      for (size_t k = 0; k < shares.size(); ++k)
        if (i != k)
          TROUPE_TRY(shares[i].of->await(shares[i].in, members_[k].*kind));
    return {};
  }

  // Each member computes its own output from all inputs, in their order, so all get the same bits.
  static status compute(const collective_call& call, std::span<const share> shares, size_t member) {
    const auto& own_share = shares[member];
    auto& collective = *own_share.of->as_collective();
    auto count = call.output_dims(shares.size()).elements();
    if (count == 0)
      return {};
    auto bytes = static_cast<size_t>(call.dims.elements()) * size_of(call.type);
    auto combine_into = [&](std::span<const void* const> sources, size_t offset, int64_t elements) {
      return collective.combine(static_cast<char*>(own_share.output) + offset, sources, elements,
                                call.type, call.operation, call.average, own_share.in);
    };
    std::vector<const void*> sources;
    switch (call.kind) {
      case collective_kind::broadcast:
        if (member == call.root)
          return {};
        sources.push_back(shares[call.root].input);
        return combine_into(sources, 0, count);
      case collective_kind::all_gather:
        for (size_t k = 0; k < shares.size(); ++k) {
          sources.assign(1, shares[k].input);
          TROUPE_TRY(combine_into(sources, k * bytes, call.dims.elements()));
        }
        return {};
      case collective_kind::all_reduce:
      case collective_kind::reduce_scatter: break;
    }
    auto skip = call.kind == collective_kind::reduce_scatter ? member * (bytes / shares.size()) : 0;
    for (const auto& member_share : shares)
      sources.push_back(static_cast<const char*>(member_share.input) + skip);
    return combine_into(sources, 0, count);
  }

  std::vector<member_events> members_;
};

// A communicator that was used before, and its members.
struct cached_communicator {
  std::vector<std::shared_ptr<const void>> members;
  std::shared_ptr<communicator> peers;
};
struct communicator_cache { // kept by the first member's device
  std::vector<cached_communicator> entries;
};

struct participant {
  gpu_device* gpu;
  collective_device* device;
  launch_order* launching;
};

result<participant> make_participant(device& member) {
  auto* gpu = member.as_accelerator() ? &gpu_of(member) : nullptr;
  auto* device = gpu ? gpu->as_collective() : nullptr;
  if (!device || !gpu->driver().as_collective())
    return failure(error_kind::unimplemented, to_string(member.kind()), ':', member.ordinal(),
                   " cannot compute together with other devices: put the group on processors");
  TROUPE_TRY(gpu->health());
  TROUPE_ASSIGN(auto* launching,
                gpu->get_or_make<launch_order>([](auto&) -> result<std::shared_ptr<launch_order>> {
                  return std::make_shared<launch_order>();
                }));
  return participant{gpu, device, launching};
}

// Locks the devices in one order for all threads; a device with several members is locked once.
std::vector<std::unique_lock<std::mutex>>
launch_lock(const std::vector<participant>& participants) {
  std::vector<launch_order*> order;
  for (const auto& member : participants)
    order.push_back(member.launching);
  std::ranges::sort(order, std::less<>{});
  order.erase(std::ranges::unique(order).begin(), order.end());
  std::vector<std::unique_lock<std::mutex>> locks;
  for (auto* locked : order)
    locks.emplace_back(locked->mutex);
  return locks;
}

result<std::shared_ptr<communicator>>
make_communicator(const std::vector<participant>& participants) {
  std::vector<driver*> drivers;
  std::vector<int64_t> gpus;
  for (const auto& member : participants) {
    drivers.push_back(&member.gpu->driver());
    gpus.push_back(drivers.back()->as_collective()->gpu());
  }
  std::ranges::sort(gpus);
  if (gpus.front() == gpus.back())
    return exchange_by_events::make(drivers);
  if (std::ranges::adjacent_find(gpus) != gpus.end())
    return failure(error_kind::unimplemented,
                   "several members of the group share a GPU, and others do not: give each GPU one "
                   "member, or all to one (devices_per_gpu = 1 makes one device for each GPU)");
  return drivers.front()->as_collective()->make_communicator(drivers);
}

// Called with the launch locks of all participants.
result<std::shared_ptr<communicator>> find_or_make(const std::vector<participant>& participants) {
  TROUPE_ASSIGN(auto* cache, participants.front().gpu->get_or_make<communicator_cache>(
                                 [](auto&) -> result<std::shared_ptr<communicator_cache>> {
                                   return std::make_shared<communicator_cache>();
                                 }));
  std::vector<std::shared_ptr<const void>> members;
  for (const auto& member : participants)
    members.push_back(member.device->keep());
  auto cached = std::ranges::find(cache->entries, members, &cached_communicator::members);
  if (cached != cache->entries.end())
    return cached->peers;
  // Drops communicators of devices that only this cache keeps.
  std::erase_if(cache->entries, [](const cached_communicator& entry) {
    return std::ranges::any_of(entry.members, [](auto& member) { return member.use_count() == 1; });
  });
  TROUPE_ASSIGN(auto created, make_communicator(participants));
  for (const auto& member : participants)
    member.device->on_lost([peers = std::weak_ptr{created}](const status& reason) {
      if (auto alive = peers.lock())
        alive->abort(reason);
    });
  cache->entries.push_back({std::move(members), created});
  return created;
}

void forget(const std::vector<participant>& participants,
            const std::shared_ptr<communicator>& failed) {
  auto cache = participants.front().gpu->get_or_make<communicator_cache>(
      [](auto&) -> result<std::shared_ptr<communicator_cache>> {
        return std::make_shared<communicator_cache>();
      });
  if (cache)
    std::erase_if((*cache)->entries,
                  [&](const cached_communicator& entry) { return entry.peers == failed; });
}

} // namespace

status prepare_collective(const collective_call& call, collective_part& part) {
  TROUPE_ASSIGN(auto member, make_participant(*part.target));
  if (call.kind != collective_kind::all_reduce)
    return {}; // the memory of the output is allocated later, and may be in use until then
  TROUPE_ASSIGN(part.output,
                tensor::make(part.input.type(), part.input.dims(), member.gpu->memory()));
  TROUPE_ASSIGN(part.ready, member.device->record_position());
  return {};
}

status run_collective(const collective_call& call, std::span<collective_part> parts) {
  std::vector<participant> participants;
  for (const auto& part : parts) {
    TROUPE_ASSIGN(auto member, make_participant(*part.target));
    participants.push_back(member);
  }
  // Allocates memory first: this may wait for earlier launches, and must not hold the launch locks.
  auto dims = call.output_dims(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (call.kind == collective_kind::broadcast && i == call.root) {
      parts[i].output = parts[i].input;
      continue;
    }
    if (parts[i].output.empty()) {
      TROUPE_ASSIGN(parts[i].output, tensor::make(call.type, dims, participants[i].gpu->memory()));
    }
  }
  auto locks = launch_lock(participants);
  TROUPE_ASSIGN(auto peers, find_or_make(participants));
  std::vector<share> shares;
  for (size_t i = 0; i < parts.size(); ++i) {
    TROUPE_ASSIGN(auto in, participants[i].device->begin_exchange(parts[i].ready));
    shares.push_back({&participants[i].gpu->driver(), in,
                      parts[i].input.empty() ? nullptr : parts[i].input.raw(),
                      parts[i].output.raw()});
  }
  auto launched = peers->launch(call, shares);
  for (size_t i = 0; i < parts.size() && launched; ++i)
    launched = participants[i].device->end_exchange(parts[i].input, parts[i].output);
  if (launched)
    return {};
  peers->abort(launched);
  forget(participants, peers);
  locks.clear();
  if (launched.kind() == error_kind::unavailable)
    for (const auto& member : participants)
      TROUPE_TRY(member.device->probe()); // names the lost device
  return launched;
}

} // namespace troupe::gpu
