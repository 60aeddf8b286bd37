#include "troupe/actors/execution/task_program.hpp"

#include "troupe/actors/execution/frames.hpp"
#include "troupe/actors/execution/region.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/platform/thread_number.hpp"
#include "troupe/runtime/program/required_messages.hpp"

#include <algorithm>
#include <thread>

namespace troupe {
namespace {

// A limit for graphs from peers: each step has memory for this number of fetches.
constexpr size_t max_fetches = 65'536;

} // namespace

task_program::task_program(caf::actor_system& system,
                           std::vector<std::shared_ptr<const program>> programs,
                           std::vector<std::shared_ptr<device>> devices,
                           std::shared_ptr<flight_recorder> recorder)
    : system_(system), devices_(std::move(devices)), recorder_(std::move(recorder)),
      programs_(std::move(programs)) {
  for (const auto& device : devices_)
    if (auto* accelerator = device->as_accelerator();
        accelerator && std::ranges::find(accelerators_, accelerator) == accelerators_.end())
      accelerators_.push_back(accelerator);
  for (auto& shard : pool_)
    shard.idle.reserve(8); // so that a step that moves to another core allocates no memory
  for (const auto& part : programs_) {
    regions_ += part->regions().size();
    for (auto index : part->fetches()) {
      fetch_indexes_.push_back(index);
      fetches_ = std::max(fetches_, size_t{index} + 1);
    }
  }
}

task_program::~task_program() {
  for (auto& shard : pool_)
    for (auto& pooled : shard.idle)
      pooled.instance->retire();
}

status task_program::check_retirements(uint64_t retirements) const {
  for (const auto& part : programs_)
    TROUPE_TRY(part->check_state());
  for (const auto& [number, frame] : frames_)
    for (const auto& function : frame.functions)
      if (function)
        TROUPE_TRY(function->check_retirements(retirements));
  for (const auto& state : kept_states_)
    if (state->retired())
      return failure(error_kind::aborted, state->kind(), " '", state->name(),
                     "' was reset and is declared otherwise since: prepare the step again");
  seen_retirements_.store(retirements, std::memory_order_relaxed);
  return {};
}

inline_actor* task_program::add_waitable_resource(const caf::actor& handle) {
  auto* waitable_resource =
      static_cast<inline_actor*>(caf::actor_cast<caf::abstract_actor*>(handle));
  if (std::ranges::find(distinct_resources_, waitable_resource) == distinct_resources_.end()) {
    distinct_resources_.push_back(waitable_resource);
    resource_handles_.push_back(handle);
  }
  return waitable_resource;
}

// Connects the waits, exports and collective operations of the programs.
class task_program::linker {
public:
  linker(task_program& linked, const task_name& self, const std::vector<device_name>& devices,
         const waitable_finder& find_waitable_resource)
      : linked_(linked), self_(self), devices_(devices),
        find_waitable_resource_(find_waitable_resource) {}

  // Links the waits of program `p`. Call it for all programs before link_exports().
  status link_waits(uint32_t p) {
    linked_.waitable_resources_.emplace_back();
    linked_.sources_.emplace_back();
    for (const auto& wait : linked_.programs_[p]->waits())
      TROUPE_TRY(link_wait(p, wait));
    return {};
  }

  status link_exports(const troupe::program& part) {
    auto& routes = linked_.exports_.emplace_back();
    for (const auto& outgoing : part.exports()) {
      TROUPE_ASSIGN(auto to, device_name::parse(outgoing.to));
      if (to.name_of_task() != self_) {
        routes.push_back(
            {.remote = true, .peer = add_peer(to.name_of_task()), .key = outgoing.key});
        continue;
      }
      auto receiver = receives_.find({outgoing.key, outgoing.to});
      if (receiver == receives_.end())
        return invalid(outgoing.origin->description(), ": no receive on ", outgoing.to, " has key ",
                       outgoing.key);
      routes.push_back({.program = receiver->second.program,
                        .region = receiver->second.region,
                        .slot = receiver->second.slot,
                        .wait = receiver->second.wait,
                        .key = outgoing.key});
    }
    return {};
  }

  status link_collectives() {
    auto& collectives = linked_.collectives_;
    for (const auto& part : linked_.programs_)
      linked_.collective_slots_.emplace_back(part->waits().size());
    TROUPE_ASSIGN(collectives, find_collectives(linked_.programs_, devices_));
    for (uint32_t g = 0; g < collectives.size(); ++g)
      for (uint32_t m = 0; m < collectives[g].members.size(); ++m) {
        const auto& member = collectives[g].members[m];
        linked_.collective_slots_[member.program][member.wait] = {g, m};
      }
    return {};
  }

private:
  status link_wait(uint32_t p, const wait_point& wait) {
    linked_.waitable_resources_[p].emplace_back();
    linked_.sources_[p].emplace_back();
    if (wait.answered_by == answer_source::state || wait.answered_by == answer_source::work)
      return link_waitable_resource(p, wait);
    if (wait.answered_by == answer_source::group || wait.answered_by == answer_source::frame)
      return {};
    import_route route{p, wait.region, wait.slots.empty() ? token::no_slot : wait.slots[0],
                       static_cast<uint32_t>(&wait - linked_.programs_[p]->waits().data())};
    return wait.answered_by == answer_source::caller ? add_argument(wait, route)
                                                     : add_receive(wait, route);
  }

  status link_waitable_resource(uint32_t p, const wait_point& wait) {
    TROUPE_ASSIGN(auto actor, find_waitable_resource_(wait.state ? *wait.state : *wait.origin));
    linked_.waitable_resources_[p].back() = linked_.add_waitable_resource(actor);
    if (wait.source) {
      auto& source = linked_.sources_[p].back();
      TROUPE_ASSIGN(source, find_waitable_resource_(*wait.source));
      linked_.add_waitable_resource(source);
    }
    linked_.has_revocable_inputs_ |= wait.origin->op().returns_answer_on_failure;
    return {};
  }

  status add_argument(const wait_point& wait, const import_route& route) {
    auto& arguments = linked_.arguments_;
    auto index = static_cast<size_t>(wait.origin->attr<int64_t>("index"));
    if (index >= max_fetches)
      return invalid(wait.origin->description(), ": is argument ", index, ", at most ",
                     max_fetches - 1, " are allowed");
    arguments.resize(std::max(arguments.size(), index + 1));
    arguments[index] = route;
    return {};
  }

  status add_receive(const wait_point& wait, const import_route& route) {
    auto key = static_cast<uint32_t>(wait.origin->attr<int64_t>("key"));
    receives_[{key, to_string(devices_[route.program])}] = route;
    auto from = device_name::parse(wait.origin->attr<std::string>("from"));
    if (!from || from->name_of_task() == self_)
      return {};
    linked_.partners_.emplace(to_string(from->name_of_task()), 0);
    linked_.senders_.insert(to_string(from->name_of_task()));
    if (!linked_.imports_.emplace(key, route).second)
      return invalid("two receives have the key ", key);
    return {};
  }

  // Returns the index of a task that the programs send to.
  size_t add_peer(const task_name& task) {
    auto& peers = linked_.peers_;
    auto peer = std::ranges::find(peers, task);
    if (peer == peers.end())
      peer = peers.insert(peers.end(), task);
    linked_.partners_.emplace(to_string(task), 0);
    return static_cast<size_t>(peer - peers.begin());
  }

  task_program& linked_;
  const task_name& self_;
  const std::vector<device_name>& devices_;
  const waitable_finder& find_waitable_resource_;
  std::map<std::pair<uint32_t, std::string>, import_route> receives_; // by key and device
};

status task_program::link(const task_name& self, const std::vector<device_name>& devices,
                          const waitable_finder& find_waitable_resource) {
  if (fetches_ > max_fetches)
    return invalid("a fetch has index ", fetches_ - 1, ", at most ", max_fetches - 1,
                   " are allowed");
  task_ = to_string(self);
  for (const auto& name : devices)
    device_names_.push_back(to_string(name));
  linker linking{*this, self, devices, find_waitable_resource};
  for (uint32_t p = 0; p < programs_.size(); ++p)
    TROUPE_TRY(linking.link_waits(p));
  for (const auto& part : programs_)
    TROUPE_TRY(linking.link_exports(*part));
  return linking.link_collectives();
}

// The waitable resources and receivers of its functions count as those of its steps.
status task_program::add(task_frame frame) {
  auto number = frame.number;
  if (frames_.contains(number))
    return invalid("two frames have the number ", number);
  auto note_peer = [&](const task_name& task) {
    if (std::ranges::find(peers_, task) == peers_.end())
      peers_.push_back(task);
    partners_.emplace(to_string(task), 0);
  };
  for (const auto& task : frame.other_tasks)
    note_peer(task);
  for (const auto& function : frame.functions) {
    if (!function)
      continue;
    for (const auto& task : function->peers_)
      note_peer(task);
    partners_.insert(function->partners_.begin(), function->partners_.end());
    senders_.insert(function->senders_.begin(), function->senders_.end());
    for (const auto& waitable_resource : function->resource_handles_)
      add_waitable_resource(waitable_resource);
    has_revocable_inputs_ |= function->has_revocable_inputs_;
    for (auto* device : function->accelerators_)
      if (std::ranges::find(accelerators_, device) == accelerators_.end())
        accelerators_.push_back(device);
  }
  auto next = std::max(next_number_, static_cast<uint32_t>(programs_.size()));
  for (const auto& function : frame.functions)
    if (function) {
      function->first_number_ = next;
      next += static_cast<uint32_t>(function->programs_.size());
    }
  next_number_ = next;
  frames_.emplace(number, std::move(frame));
  return {};
}

task_program::numbered task_program::program_of(uint32_t number) const noexcept {
  if (number < programs_.size())
    return {this, nullptr, number};
  for (const auto& [which, frame] : frames_)
    for (const auto& function : frame.functions)
      if (function && number >= function->first_number_ &&
          number - function->first_number_ < function->programs_.size())
        return {function.get(), &frame, number - function->first_number_};
  return {};
}

const task_frame* task_program::frame(uint32_t number) const noexcept {
  auto position = frames_.find(number);
  return position == frames_.end() ? nullptr : &position->second;
}

void task_program::set_exchanges(std::vector<caf::actor> exchanges) {
  exchanges_ = std::move(exchanges);
  auto exchange_with = [&](const task_name& task) {
    auto index = std::ranges::find(peers_, task) - peers_.begin();
    return exchanges_[static_cast<size_t>(index)];
  };
  for (auto& [number, frame] : frames_) {
    frame.exchanges.clear();
    for (const auto& task : frame.other_tasks)
      frame.exchanges.push_back(exchange_with(task));
    for (const auto& function : frame.functions) {
      if (!function)
        continue;
      function->exchanges_.clear();
      for (const auto& task : function->peers_)
        function->exchanges_.push_back(exchange_with(task));
    }
  }
}

void task_program::expect(const std::vector<known_peer>& peers) {
  for (const auto& peer : peers)
    if (auto partner = partners_.find(peer.task); partner != partners_.end())
      partner->second = peer.incarnation;
}

uint64_t task_program::expected_incarnation(const task_name& task) const {
  auto partner = partners_.find(to_string(task));
  return partner == partners_.end() ? 0 : partner->second;
}

bool task_program::exchanges_with(const std::string& task, uint64_t incarnation) const noexcept {
  auto partner = partners_.find(task);
  return partner != partners_.end() &&
         (partner->second == incarnation || partner->second == 0 || incarnation == 0);
}

// Calls `use` on shards that no other thread uses now, beginning with the shard of this core, until
// it returns true.
template <class Use>
bool task_program::use_a_shard(Use use) {
  const size_t core = core_number();
  for (size_t i = 0; i < pool_shards; ++i) {
    auto& shard = pool_[(core + i) % pool_shards];
    if (shard.busy.test_and_set(std::memory_order_acquire))
      continue;
    auto satisfied = use(shard.idle);
    shard.busy.clear(std::memory_order_release);
    if (satisfied)
      return true;
  }
  return false;
}

template <class Use>
void task_program::use_all_shards(Use use) const {
  for (auto& shard : pool_) {
    while (shard.busy.test_and_set(std::memory_order_acquire))
      std::this_thread::yield(); // other threads hold a shard for a few instructions
    use(shard.idle);
    shard.busy.clear(std::memory_order_release);
  }
}

std::shared_ptr<task_instance> task_program::check_out() {
  std::shared_ptr<task_instance> taken;
  auto reused = use_a_shard([&](auto& idle) {
    if (idle.empty())
      return false;
    taken = std::move(idle.back().instance);
    idle.pop_back();
    return true;
  });
  if (!reused) {
    taken = std::make_shared<task_instance>(*this);
    taken->populate();
  }
  return taken;
}

void task_program::check_in(std::shared_ptr<task_instance> idle) {
  idle->reset();
  if (idle->is_profiled())
    idle->profile({});
  auto since = shrinks_.load(std::memory_order_relaxed);
  auto is_pooled = use_a_shard([&](auto& shard) {
    shard.push_back({std::move(idle), since});
    return true;
  });
  if (!is_pooled) // other threads use all shards now
    idle->retire();
}

void task_program::shrink() {
  auto last = shrinks_.fetch_add(1, std::memory_order_relaxed);
  std::vector<pooled> removed;
  use_all_shards([&](auto& idle) {
    auto first_recent = std::ranges::find_if(
        idle, [&](const auto& pooled_instance) { return pooled_instance.since >= last; });
    removed.insert(removed.end(), std::move_iterator{idle.begin()},
                   std::move_iterator{first_recent});
    idle.erase(idle.begin(), first_recent);
  });
  for (auto& pooled_instance : removed)
    pooled_instance.instance->retire();
  for (const auto& [number, frame] : frames_)
    for (const auto& function : frame.functions)
      if (function)
        function->shrink();
}

size_t task_program::idle() const {
  size_t count = 0;
  use_all_shards([&](const auto& idle) { count += idle.size(); });
  return count;
}

const import_route* task_program::import(uint32_t key) const noexcept {
  auto position = imports_.find(key);
  return position == imports_.end() ? nullptr : &position->second;
}

std::shared_ptr<const std::vector<span_subject>> task_program::subjects() const {
  std::lock_guard guard{mutex_};
  if (!subjects_) {
    auto subjects = std::make_shared<std::vector<span_subject>>();
    append_subjects(*subjects);
    for (const auto& [number, frame] : frames_)
      for (const auto& function : frame.functions)
        if (function) {
          auto first = subjects->size();
          function->append_subjects(*subjects);
          for (auto& subject : std::span{*subjects}.subspan(first))
            subject.kind = span_kind::inner;
        }
    subjects_ = std::move(subjects);
  }
  return subjects_;
}

void task_program::append_subjects(std::vector<span_subject>& to) const {
  for (size_t p = 0; p < programs_.size(); ++p)
    step_profiler::append_subjects(*programs_[p], device_names_[p], to);
}

uint32_t task_program::first_subject_of(const task_program& function) const {
  auto count_subjects = [](const task_program& owner) {
    size_t count = 0;
    for (const auto& part : owner.programs_)
      count += step_profiler::subjects_of(*part);
    return count;
  };
  auto first = count_subjects(*this);
  for (const auto& [number, frame] : frames_)
    for (const auto& inner : frame.functions) {
      if (inner.get() == &function)
        return static_cast<uint32_t>(first);
      first += inner ? count_subjects(*inner) : 0;
    }
  return static_cast<uint32_t>(first);
}

message_counts required_messages(const task_program& linked) noexcept {
  message_counts sum;
  for (uint32_t p = 0; p < linked.programs().size(); ++p) {
    const auto& part = *linked.programs()[p];
    sum += required_messages(part);
    for (uint32_t e = 0; e < part.exports().size(); ++e)
      sum.sends += linked.route(p, e).remote;
  }
  if (linked.has_revocable_inputs() && !linked.runs_within_steps())
    sum.step_ends = linked.waitable_resources().size();
  return sum;
}

task_instance::task_instance(const task_program& task) : program_(task) {
  if (task.has_frames())
    frames_ = std::make_unique<step_frames>(*this);
  for (const auto& part : task.programs()) {
    parts_.push_back(std::make_unique<instance>(part));
    timestamps_.push_back({std::make_unique<std::atomic<int64_t>[]>(part->waits().size()),
                           std::make_unique<std::atomic<int64_t>[]>(part->regions().size())});
  }
  for (const auto& group : task.collectives())
    rendezvous_.push_back(std::make_unique<collective_rendezvous>(group));
}

task_instance::~task_instance() = default;

std::string frame_iteration::description() const {
  auto suffix = number == none ? "" : concat(" iteration ", std::max<int64_t>(number, 0));
  return concat('[', frame->description, suffix, ']');
}

std::string task_instance::enclosing_iterations() const {
  if (!iteration_.frame)
    return {};
  auto outer = iteration_.enclosing ? iteration_.enclosing->enclosing_iterations() : "";
  return concat(outer, outer.empty() ? "" : " ", iteration_.description());
}

status task_instance::within_iterations(status why) const {
  if (why.kind() == error_kind::deadline_exceeded)
    return why; // the report of the root step covers all waits
  for (const auto* inner = this; inner && inner->iteration_.frame;
       inner = inner->iteration_.enclosing.get())
    why = std::move(why).with_context(inner->iteration_.description());
  return why;
}

// Its tensors are allocated in the memory account of the root step.
void task_instance::share_memory() {
  for (const auto& part : parts_)
    part->share_memory_of(root_->frames()->account_on(part->program().device()));
}

status task_instance::receive(arrival&& message, caf::execution_unit* unit) {
  if (message.frame != frame_ || message.iteration != run_) {
    if (frames_ && message.frame != 0)
      return frames_->arrive(std::move(message), unit);
    return invalid("a tensor came for frame ", message.frame, ", iteration ", message.iteration,
                   " of key ", message.key, ", which is in no loop");
  }
  const auto* route = program_.import(message.key);
  if (!route)
    return invalid("a tensor came for the unknown key ", message.key);
  const auto& program = part(route->program).program();
  if (!message.dead && route->slot != token::no_slot)
    if (const auto& origin = *program.waits()[route->wait].origin;
        origin.output_type(0) != message.value.type() ||
        !origin.output_shape(0).compatible(message.value.dims()))
      return invalid(origin.description(), ": expected ", origin.output_type(0),
                     origin.output_shape(0), ", got ", message.value.type(), message.value.dims());
  end_wait(route->program, route->wait, message.value.bytes());
  deliver(region(route->program, route->region),
          token{.region = route->region,
                .slot = message.dead ? token::no_slot : route->slot,
                .value = std::move(message.value),
                .dead = message.dead},
          unit);
  return {};
}

void task_instance::reset() noexcept {
  if (frames_)
    frames_->reset();
  for (auto& part : parts_)
    part->reset();
  for (auto& rendezvous : rendezvous_)
    rendezvous->reset();
  iteration_ = {};
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

void task_instance::begin_step(uint64_t step) noexcept {
  program_.recorder().note(flight_event::step_began, step);
  for (size_t p = 0; p < parts_.size(); ++p) {
    auto waits = parts_[p]->program().waits();
    for (size_t i = 0; i < waits.size(); ++i)
      timestamps_[p].waits[i].store(begins_on_request(waits[i]) ? 0 : ticks_now(),
                                    std::memory_order_relaxed);
  }
}

void task_instance::begin_wait(uint32_t of_program, uint32_t of_wait) noexcept {
  timestamps_[of_program].waits[of_wait].store(ticks_now(), std::memory_order_relaxed);
  program_.recorder().note(flight_event::wait_began, conductor_->step(),
                           program_.first_number() + of_program, of_wait);
}

void task_instance::end_wait(uint32_t of_program, uint32_t of_wait, uint64_t bytes) noexcept {
  timestamps_[of_program].waits[of_wait].store(0, std::memory_order_relaxed);
  program_.recorder().note(flight_event::wait_ended, conductor_->step(),
                           program_.first_number() + of_program, of_wait);
  if (is_profiled()) {
    profile_.messages.count(message_kind::answer);
    profile_.profilers[of_program]->end_wait(of_wait, bytes);
  }
}

void task_instance::profile(profile_options options) {
  profile_.options = options;
  profile_.since_ns = steady_ns();
  profile_.messages.restart(options.any());
  if (options.any() && profile_.profilers.empty())
    for (const auto& part : program_.programs())
      profile_.profilers.push_back(std::make_unique<step_profiler>(*part));
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (options.any())
      profile_.profilers[p]->begin(options);
    parts_[p]->set_profiler(options.any() ? profile_.profilers[p].get() : nullptr);
  }
}

void task_instance::collect(task_statistics& to) const {
  to.spans.clear();
  to.memory.clear();
  to.messages = to.expected_messages = {};
  if (!profile_.options.times)
    return;
  to.task = program_.task();
  to.begin_ns = profile_.since_ns;
  collect_spans(to);
  if (frames_)
    frames_->add_times(to);
  for (size_t p = 0; p < parts_.size(); ++p) {
    memory_timeline memory{.device = program_.name_of_device(p)};
    parts_[p]->collect_memory(memory);
    if (!memory.bytes.empty())
      to.memory.push_back(std::move(memory));
  }
  if (!std::ranges::is_sorted(to.spans, {}, &step_span::begin_ns))
    std::ranges::stable_sort(to.spans, {}, &step_span::begin_ns);
  auto total = memory();
  to.allocated_bytes = total.allocated;
  to.peak_bytes = total.peak;
  to.end_ns = steady_ns();
}

void task_instance::collect_spans(task_statistics& to) const {
  to.subjects = program_.subjects();
  to.messages = profile_.messages.sums();
  to.expected_messages = required_messages(program_);
  uint32_t first = 0;
  for (size_t p = 0; p < parts_.size(); ++p) {
    profile_.profilers[p]->collect(first, to);
    first += static_cast<uint32_t>(step_profiler::subjects_of(*program_.programs()[p]));
  }
}

step_memory_statistics task_instance::memory() const noexcept {
  step_memory_statistics total;
  for (const auto& part : parts_) {
    auto used = part->memory();
    total.in_use += used.in_use;
    total.peak += used.peak;
    total.allocated += used.allocated;
    total.allocations += used.allocations;
  }
  if (frames_)
    frames_->add_memory(total);
  return total;
}

std::string task_instance::describe_largest_tensors() const {
  std::vector<held_tensor> tensors;
  for (const auto& part : parts_)
    part->list_tensors(tensors);
  return describe_largest(std::move(tensors), 10,
                          iteration_.frame ? "the iteration's largest tensors"
                                           : "the step's largest tensors");
}

void task_instance::retire() {
  auto kept = shared_from_this();
  kept_program_ = program_.weak_from_this().lock(); // null if the program itself is being destroyed
  region_handles_.clear();
}

} // namespace troupe
