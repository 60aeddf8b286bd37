#include "troupe/actors/task_program.hpp"

#include "troupe/actors/region.hpp"
#include "troupe/runtime/internal_ops.hpp"

#include <algorithm>

namespace troupe {

task_program::task_program(caf::actor_system& system,
                           std::vector<std::shared_ptr<const program>> programs,
                           std::vector<std::shared_ptr<device>> devices)
    : system_(system), devices_(std::move(devices)), programs_(std::move(programs)) {
  for (const auto& one : programs_) {
    regions_ += one->regions().size();
    for (auto index : one->fetches()) {
      fetch_indexes_.push_back(index);
      fetches_ = std::max(fetches_, size_t{index} + 1);
    }
    for (const auto& feed : one->feeds())
      feed_indexes_.push_back(feed.index);
  }
  std::ranges::sort(feed_indexes_);
  feed_indexes_.erase(std::ranges::unique(feed_indexes_).begin(), feed_indexes_.end());
}

task_program::~task_program() {
  for (auto& one : idle_)
    one->retire();
}

status task_program::link(const task_name& self, const std::vector<device_name>& devices,
                          const queue_finder& find_queue) {
  std::map<std::pair<uint32_t, std::string>, import_route> receives; // by key and device
  for (uint32_t p = 0; p < programs_.size(); ++p) {
    auto& queues = queues_.emplace_back();
    for (const auto& wait : programs_[p]->waits()) {
      queues.emplace_back();
      if (wait.queue) {
        TROUPE_ASSIGN(queues.back(), find_queue(*wait.queue));
        if (std::ranges::find(distinct_queues_, queues.back()) == distinct_queues_.end())
          distinct_queues_.push_back(queues.back());
        continue;
      }
      auto key = static_cast<uint32_t>(wait.origin->attr<int64_t>("key"));
      import_route route{p, wait.region, wait.slots.empty() ? token::no_slot : wait.slots[0]};
      receives[{key, to_string(devices[p])}] = route;
      auto from = device_name::parse(wait.origin->attr<std::string>("from"));
      if (from && from->on_task() != self) {
        partners_.insert(to_string(from->on_task()));
        if (!imports_.emplace(key, route).second)
          return invalid("two receives have the key ", key);
      }
    }
  }
  for (const auto& one : programs_) {
    auto& routes = exports_.emplace_back();
    for (const auto& out : one->exports()) {
      TROUPE_ASSIGN(auto to, device_name::parse(out.to));
      if (to.on_task() == self) {
        auto it = receives.find({out.key, out.to});
        if (it == receives.end())
          return invalid(out.origin->description(), ": nobody on ", out.to, " receives key ",
                         out.key);
        routes.push_back(
            {false, it->second.program, it->second.region, it->second.slot, 0, out.key});
        continue;
      }
      auto peer = std::ranges::find(peers_, to.on_task());
      if (peer == peers_.end())
        peer = peers_.insert(peers_.end(), to.on_task());
      partners_.insert(to_string(to.on_task()));
      routes.push_back(
          {.remote = true, .peer = static_cast<size_t>(peer - peers_.begin()), .key = out.key});
    }
  }
  return {};
}

std::shared_ptr<task_instance> task_program::check_out() {
  {
    std::lock_guard guard{mutex_};
    if (!idle_.empty()) {
      auto one = std::move(idle_.back());
      idle_.pop_back();
      one->keep(shared_from_this());
      return one;
    }
  }
  auto made = std::make_shared<task_instance>(*this);
  made->populate();
  made->keep(shared_from_this());
  return made;
}

void task_program::check_in(std::shared_ptr<task_instance> idle) {
  for (uint32_t p = 0; p < programs_.size(); ++p)
    idle->part(p).reset();
  auto self = shared_from_this(); // the instance may hold the last reference
  idle->keep(nullptr);
  std::lock_guard guard{mutex_};
  idle_.push_back(std::move(idle));
}

const import_route* task_program::import(uint32_t key) const noexcept {
  auto it = imports_.find(key);
  return it == imports_.end() ? nullptr : &it->second;
}

task_instance::task_instance(const task_program& of) : program_(of) {
  for (const auto& one : of.programs())
    parts_.push_back(std::make_unique<instance>(one));
}

void task_instance::populate() {
  auto& system = program_.system();
  std::tie(conductor_handle_, conductor_) = spawn_inline<conductor_actor>(system, *this);
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    auto& regions = regions_.emplace_back();
    for (uint32_t r = 0; r < parts_[p]->program().regions().size(); ++r) {
      auto [handle, region] = spawn_inline<region_actor>(system, shared_from_this(), p, r);
      region_handles_.push_back(std::move(handle));
      regions.push_back(region);
    }
  }
}

step_memory_statistics task_instance::memory() const noexcept {
  step_memory_statistics all;
  for (const auto& part : parts_) {
    auto one = part->memory();
    all.in_use += one.in_use;
    all.peak += one.peak;
    all.allocated += one.allocated;
    all.allocations += one.allocations;
  }
  return all;
}

std::string task_instance::describe_largest_tensors() const {
  std::vector<held_tensor> held;
  for (const auto& part : parts_)
    part->list_tensors(held);
  return describe_largest(std::move(held), 10);
}

void task_instance::retire() {
  auto keep = shared_from_this();
  region_handles_.clear();
}

} // namespace troupe
