#include "troupe/devices/gpu/core/collectives.hpp"

#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace troupe::gpu {
namespace {

// Held while an exchange is launched on a device.
struct launch_order {
  std::mutex mutex;
};

// Devices on one GPU read each other's memory; a library for several GPUs refuses them.
class exchange_by_events final : public communicator {
public:
  static result<std::shared_ptr<communicator>> make(std::span<driver* const> all) {
    auto made = std::make_shared<exchange_by_events>();
    for (auto* one : all) {
      auto& at = made->places_.emplace_back(one);
      TROUPE_ASSIGN(at.ready, one->make_event());
      TROUPE_ASSIGN(at.done, one->make_event());
    }
    return std::shared_ptr<communicator>{std::move(made)};
  }
  ~exchange_by_events() override {
    for (auto& one : places_)
      for (auto which : {one.ready, one.done})
        if (which)
          one.of->destroy(which);
  }

  status launch(const collective_call& what, std::span<const share> all) override {
    TROUPE_TRY(record(all, &place::ready));
    TROUPE_TRY(await(all, &place::ready));
    for (size_t i = 0; i < all.size(); ++i)
      TROUPE_TRY(compute(what, all, i));
    TROUPE_TRY(record(all, &place::done));
    return await(all, &place::done); // others have read what is overwritten next
  }
  // Events are passed, whatever happens.
  void abort(const status&) noexcept override {}

private:
  struct place {
    explicit place(driver* on) : of(on) {}
    driver* of;
    event ready = nullptr, done = nullptr;
  };

  status record(std::span<const share> all, event place::*which) {
    for (size_t i = 0; i < all.size(); ++i)
      TROUPE_TRY(all[i].of->record(places_[i].*which, all[i].in));
    return {};
  }
  status await(std::span<const share> all, event place::*which) {
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t k = 0; k < all.size(); ++k)
        if (i != k)
          TROUPE_TRY(all[i].of->await(all[i].in, places_[k].*which));
    return {};
  }

  // Each computes its own output from all inputs, in their order: all get the same bits.
  static status compute(const collective_call& what, std::span<const share> all, size_t member) {
    const auto& self = all[member];
    auto& on = *self.of->as_collective();
    auto count = what.output_dims(all.size()).elements();
    if (count == 0)
      return {};
    auto bytes = static_cast<size_t>(what.dims.elements()) * size_of(what.type);
    auto take = [&](std::span<const void* const> from, size_t at, int64_t elements) {
      return on.combine(static_cast<char*>(self.output) + at, from, elements, what.type, what.by,
                        what.average, self.in);
    };
    std::vector<const void*> from;
    switch (what.kind) {
      case collective_kind::broadcast:
        if (member == what.root)
          return {};
        from.push_back(all[what.root].input);
        return take(from, 0, count);
      case collective_kind::all_gather:
        for (size_t k = 0; k < all.size(); ++k) {
          from.assign(1, all[k].input);
          TROUPE_TRY(take(from, k * bytes, what.dims.elements()));
        }
        return {};
      case collective_kind::all_reduce:
      case collective_kind::reduce_scatter: break;
    }
    auto skip = what.kind == collective_kind::reduce_scatter ? member * (bytes / all.size()) : 0;
    for (const auto& one : all)
      from.push_back(static_cast<const char*>(one.input) + skip);
    return take(from, 0, count);
  }

  std::vector<place> places_;
};

// Those who have exchanged something before.
struct cached_communicator {
  std::vector<std::shared_ptr<const void>> members;
  std::shared_ptr<communicator> via;
};
struct communicator_cache { // of a device that comes first among the members
  std::vector<cached_communicator> all;
};

struct participant {
  gpu_device* on;
  collective_device* device;
  launch_order* launching;
};

result<participant> make_participant(device& which) {
  auto* on = which.as_accelerator() ? &gpu_of(which) : nullptr;
  auto* device = on ? on->as_collective() : nullptr;
  if (!device || !on->driver().as_collective())
    return failure(error_kind::unimplemented, to_string(which.kind()), ':', which.ordinal(),
                   " cannot compute together with other devices: put the group on processors");
  TROUPE_TRY(on->health());
  TROUPE_ASSIGN(auto* launching,
                on->kept<launch_order>([](auto&) -> result<std::shared_ptr<launch_order>> {
                  return std::make_shared<launch_order>();
                }));
  return participant{on, device, launching};
}

// In one order for all threads; a device with several members is locked once.
std::vector<std::unique_lock<std::mutex>> launch_lock(const std::vector<participant>& all) {
  std::vector<launch_order*> order;
  for (const auto& one : all)
    order.push_back(one.launching);
  std::ranges::sort(order, std::less<>{});
  order.erase(std::ranges::unique(order).begin(), order.end());
  std::vector<std::unique_lock<std::mutex>> held;
  for (auto* one : order)
    held.emplace_back(one->mutex);
  return held;
}

result<std::shared_ptr<communicator>> make_communicator(const std::vector<participant>& all) {
  std::vector<driver*> drivers;
  std::vector<int64_t> gpus;
  for (const auto& one : all) {
    drivers.push_back(&one.on->driver());
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

// Called while all have their turn.
result<std::shared_ptr<communicator>> find_or_make(const std::vector<participant>& all) {
  TROUPE_ASSIGN(auto* known, all.front().on->kept<communicator_cache>(
                                 [](auto&) -> result<std::shared_ptr<communicator_cache>> {
                                   return std::make_shared<communicator_cache>();
                                 }));
  std::vector<std::shared_ptr<const void>> members;
  for (const auto& one : all)
    members.push_back(one.device->keep());
  auto found = std::ranges::find(known->all, members, &cached_communicator::members);
  if (found != known->all.end())
    return found->via;
  // Of those who are gone, only we keep something.
  std::erase_if(known->all, [](const cached_communicator& one) {
    return std::ranges::any_of(one.members, [](auto& each) { return each.use_count() == 1; });
  });
  TROUPE_ASSIGN(auto made, make_communicator(all));
  for (const auto& one : all)
    one.device->on_lost([peers = std::weak_ptr{made}](const status& why) {
      if (auto left = peers.lock())
        left->abort(why);
    });
  known->all.push_back({std::move(members), made});
  return made;
}

void forget(const std::vector<participant>& all, const std::shared_ptr<communicator>& which) {
  auto known = all.front().on->kept<communicator_cache>(
      [](auto&) -> result<std::shared_ptr<communicator_cache>> {
        return std::make_shared<communicator_cache>();
      });
  if (known)
    std::erase_if((*known)->all, [&](const cached_communicator& one) { return one.via == which; });
}

} // namespace

status prepare_collective(const collective_call& what, collective_part& mine) {
  TROUPE_ASSIGN(auto participant, make_participant(*mine.on));
  if (what.kind != collective_kind::all_reduce)
    return {}; // its output's memory is taken later, and may be in use until then
  TROUPE_ASSIGN(mine.output,
                tensor::make(mine.input.type(), mine.input.dims(), participant.on->memory()));
  TROUPE_ASSIGN(mine.ready, participant.device->record_position());
  return {};
}

status exchange(const collective_call& what, std::span<collective_part> all) {
  std::vector<participant> guests;
  for (const auto& one : all) {
    TROUPE_ASSIGN(auto made, make_participant(*one.on));
    guests.push_back(made);
  }
  // Memory first: to find some may take a wait for what was launched, and then no turn is held.
  auto dims = what.output_dims(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (what.kind == collective_kind::broadcast && i == what.root) {
      all[i].output = all[i].input;
      continue;
    }
    if (all[i].output.empty()) {
      TROUPE_ASSIGN(all[i].output, tensor::make(what.type, dims, guests[i].on->memory()));
    }
  }
  auto turns = launch_lock(guests);
  TROUPE_ASSIGN(auto via, find_or_make(guests));
  std::vector<share> shares;
  for (size_t i = 0; i < all.size(); ++i) {
    TROUPE_ASSIGN(auto in, guests[i].device->begin_exchange(all[i].ready));
    shares.push_back({&guests[i].on->driver(), in,
                      all[i].input.empty() ? nullptr : all[i].input.raw(), all[i].output.raw()});
  }
  auto launched = via->launch(what, shares);
  for (size_t i = 0; i < all.size() && launched; ++i)
    launched = guests[i].device->end_exchange(all[i].input, all[i].output);
  if (launched)
    return {};
  via->abort(launched);
  forget(guests, via);
  turns.clear();
  if (launched.kind() == error_kind::unavailable)
    for (const auto& one : guests)
      TROUPE_TRY(one.device->probe()); // says which
  return launched;
}

} // namespace troupe::gpu
