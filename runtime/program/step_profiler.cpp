#include "troupe/runtime/program/step_profiler.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/platform/thread_number.hpp"
#include "troupe/runtime/program/check_numerics.hpp"
#include "troupe/runtime/program/collective.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

bool runs_later(action kind) noexcept { return kind == action::run || kind == action::upload; }

// The copy stream that an instruction uses. Tensors that leave the device are copied to the host.
std::optional<copy_stream> copy_stream_of(const instruction& code) noexcept {
  if (code.kind == action::fetch || code.kind == action::send ||
      (code.kind == action::run && &code.origin->op() == &internal_ops::swap_out))
    return copy_stream::to_host;
  if (code.kind == action::run && &code.origin->op() == &internal_ops::swap_in)
    return copy_stream::to_device;
  return {};
}

// Copies on one stream run one after the other: each begins when the one before has ended.
void order_copies(std::span<step_span> spans, const program& compiled, copy_stream stream) {
  std::vector<step_span*> copies;
  for (auto& span : spans)
    if (span.thread == copy_track(compiled.device().ordinal(), stream))
      copies.push_back(&span);
  std::ranges::sort(copies, {}, [](const step_span* span) { return span->end_ns; });
  for (size_t i = 1; i < copies.size(); ++i)
    copies[i]->begin_ns = std::clamp(copies[i - 1]->end_ns, copies[i]->begin_ns, copies[i]->end_ns);
}

bool on_host(const program& compiled) noexcept {
  return compiled.device().kind() == device_kind::cpu;
}

} // namespace

step_profiler::step_profiler(const program& compiled)
    : program_(compiled), instructions_(new instruction_record[compiled.code().size()]),
      regions_(new region_record[compiled.regions().size()]),
      waits_(new wait_record[compiled.waits().size()]),
      inner_(new block_record[inner_of(compiled)]) {}

void step_profiler::begin(profile_options options) noexcept {
  options_ = options;
  options_.check_numerics = options.check_numerics && on_host(program_);
  std::fill_n(regions_.get(), program_.regions().size(), region_record{});
  for (size_t i = 0; i < inner_of(program_); ++i) {
    inner_[i].ticks.store(0, std::memory_order_relaxed);
    inner_[i].runs.store(0, std::memory_order_relaxed);
  }
  begun_ = moment::now();
  if (auto* device = program_.device().as_accelerator(); device && options.times) {
    if (!clock_)
      clock_ = device->make_clock(2 * static_cast<uint32_t>(program_.code().size()));
    if (clock_)
      clock_->begin();
  }
  auto now = steady_ns();
  for (size_t i = 0; i < program_.waits().size(); ++i) {
    // A wait for a tensor of another device begins with the step; other waits begin on request.
    waits_[i].begin_ns.store(begins_on_request(program_.waits()[i]) ? 0 : now,
                             std::memory_order_relaxed);
    waits_[i].end_ns.store(0, std::memory_order_relaxed);
    waits_[i].bytes.store(0, std::memory_order_relaxed);
  }
}

status step_profiler::check_constants() {
  if (!options_.check_numerics)
    return {};
  std::call_once(constants_seen_, [this] {
    for (const auto& constant : program_.constants())
      if (!all_finite(constant.value)) {
        constants_ =
            with_node_context(*constant.origin, invalid("is a constant that is not finite: ",
                                                        describe(summarize(constant.value))));
        return;
      }
  });
  return constants_;
}

// The span of an inner node begins with its first run; its length is the sum of all runs.
void step_profiler::collect_inner(uint32_t first_subject, task_statistics& task) const {
  auto now = moment::now();
  tick_scale scale{begun_, now};
  for (uint32_t i = 0; i < inner_of(program_); ++i) {
    auto runs = inner_[i].runs.load(std::memory_order_relaxed);
    if (runs == 0)
      continue;
    auto first = inner_[i].first.load(std::memory_order_relaxed);
    auto total_ticks = inner_[i].ticks.load(std::memory_order_relaxed);
    auto begin = std::clamp(scale.ns(first), begun_.ns, now.ns);
    auto end = std::clamp(scale.ns(first + total_ticks), begin, now.ns);
    task.spans.push_back({first_subject + i, 0, begin, end, 0, runs});
  }
}

void step_profiler::end_wait(uint32_t wait, uint64_t bytes) noexcept {
  waits_[wait].bytes.store(bytes, std::memory_order_relaxed);
  waits_[wait].end_ns.store(steady_ns(), std::memory_order_relaxed);
}

void step_profiler::collect(uint32_t first_subject, task_statistics& task) const {
  auto code = program_.code();
  auto regions = program_.regions();
  auto region_subject = first_subject + static_cast<uint32_t>(code.size());
  auto wait_subject = region_subject + static_cast<uint32_t>(regions.size());
  task.spans.reserve(task.spans.size() + subjects_of(program_));
  auto first_copy = task.spans.size();
  auto now = steady_ns(); // upper limit: the device's clock is less accurate than the host's
  for (uint32_t r = 0; r < regions.size(); ++r) {
    const auto& region_run = regions_[r];
    if (region_run.begin.ns == 0)
      continue;
    task.spans.push_back(
        {region_subject + r, region_run.thread, region_run.begin.ns, region_run.end.ns, 0});
    tick_scale scale{region_run.begin, region_run.end};
    auto begin = region_run.begin.ns;
    for (uint32_t i = 0; i < region_run.ran; ++i) {
      const auto& record = instructions_[regions[r].first + i];
      auto end = std::clamp(scale.ns(record.end), begin, region_run.end.ns);
      const auto& instruction = code[regions[r].first + i];
      auto kind = instruction.kind;
      if (kind <= action::read || kind == action::send)
        task.spans.push_back(
            {first_subject + regions[r].first + i, region_run.thread, begin, end, record.bytes});
      begin = end;
      // Launched work runs later, on the device.
      auto mark = 2 * (regions[r].first + i);
      auto stream = copy_stream_of(instruction);
      auto runs_on_device = stream ? record.copies && marks_copies() : clock_ && runs_later(kind);
      auto ordinal = program_.device().ordinal();
      if (auto ended = runs_on_device ? std::min(clock_->time_of(mark + 1), now) : 0)
        if (auto began = std::min(clock_->time_of(mark), ended))
          task.spans.push_back({first_subject + regions[r].first + i,
                                stream ? copy_track(ordinal, *stream) : device_track(ordinal),
                                began, ended, stream ? record.copies : 0});
    }
  }
  for (auto stream : {copy_stream::to_host, copy_stream::to_device})
    order_copies(std::span{task.spans}.subspan(first_copy), program_, stream);
  for (uint32_t i = 0; i < program_.waits().size(); ++i) {
    auto begin = waits_[i].begin_ns.load(std::memory_order_relaxed);
    auto end = waits_[i].end_ns.load(std::memory_order_relaxed);
    if (begin != 0 && end != 0)
      task.spans.push_back({wait_subject + i, 0, begin, std::max(begin, end),
                            waits_[i].bytes.load(std::memory_order_relaxed)});
  }
  collect_inner(wait_subject + static_cast<uint32_t>(program_.waits().size()), task);
}

namespace {

// Names the functions of a program in statistics, by the first call of each.
std::map<const block*, std::string> names_of_blocks(const program& compiled) {
  std::map<const block*, std::string> names;
  std::vector<const block*> open;
  auto name = [&](std::span<const instruction> code, const std::string& around) {
    for (const auto& instruction : code)
      if (instruction.kind == action::call)
        for (const auto* called : static_cast<const call_site*>(instruction.state)->blocks)
          if (names
                  .emplace(called,
                           concat(around, instruction.origin->name(), " [", called->name, "] "))
                  .second)
            open.push_back(called);
  };
  name(compiled.code(), "");
  while (!open.empty()) {
    const auto* next = open.back();
    open.pop_back();
    name(next->code, names.at(next));
  }
  return names;
}

void append_inner_subjects(const program& compiled, std::string_view device,
                           std::vector<span_subject>& subjects) {
  auto names = names_of_blocks(compiled);
  for (const auto& called : compiled.blocks())
    for (const auto& code : called.code) {
      span_subject subject{.kind = span_kind::inner, .device = std::string{device}};
      if (code.origin) {
        subject.name = concat(names[&called], code.origin->name());
        subject.op = code.origin->op().name;
      }
      subjects.push_back(std::move(subject));
    }
}

} // namespace

void step_profiler::append_subjects(const program& compiled, std::string_view device,
                                    std::vector<span_subject>& subjects) {
  auto first = subjects.size();
  subjects.resize(first + compiled.code().size());
  for (uint32_t r = 0; r < compiled.regions().size(); ++r)
    for (uint32_t i = 0; i < compiled.regions()[r].count; ++i) {
      auto position = compiled.regions()[r].first + i;
      const auto& code = compiled.code()[position];
      auto& subject = subjects[first + position];
      subject.device = device;
      subject.region = r;
      if (code.origin) {
        subject.name = code.origin->name();
        subject.op = code.origin->op().name;
      }
      if (code.kind == action::read)
        subject.kind = span_kind::read;
      if (code.kind == action::send) {
        subject.kind = span_kind::send;
        subject.peer = compiled.exports()[code.target].to;
        subject.key = compiled.exports()[code.target].key;
      }
    }
  for (uint32_t r = 0; r < compiled.regions().size(); ++r)
    subjects.push_back({.kind = span_kind::region,
                        .name = concat("region ", r),
                        .op = {},
                        .device = std::string{device},
                        .peer = {},
                        .region = r,
                        .messages = compiled.regions()[r].required_tokens});
  for (const auto& wait : compiled.waits()) {
    span_subject subject{.kind = span_kind::wait,
                         .name = wait.origin->name(),
                         .op = std::string{wait.origin->op().name},
                         .device = std::string{device},
                         .peer = {},
                         .region = wait.region};
    if (wait.answered_by == answer_source::channel) {
      subject.peer = wait.origin->attr<std::string>("from");
      subject.key = static_cast<uint32_t>(wait.origin->attr<int64_t>("key"));
    }
    subjects.push_back(std::move(subject));
  }
  append_inner_subjects(compiled, device, subjects);
}

// -- one region --------------------------------------------------------------------------------

region_profiler::region_profiler(step_profiler& step, uint32_t region, const tensor* slots) noexcept
    : step_(step), record_(step.regions_[region]),
      next_(step.instructions_.get() + step.program_.regions()[region].first), slots_(slots) {
  record_.thread = thread_number();
  record_.begin = moment::now();
}

region_profiler::~region_profiler() { record_.end = moment::now(); }

void region_profiler::mark(const instruction& code, uint32_t end) const noexcept {
  if (!step_.options_.times || !step_.clock_)
    return;
  auto mark_number = 2 * static_cast<uint32_t>(&code - step_.program_.code().data()) + end;
  auto stream = copy_stream_of(code);
  if (stream && step_.marks_copies() && next_->copies > 0) {
    // A copy begins after the kernels before it, and ends independently of those behind it.
    if (end == 0)
      step_.clock_->mark(mark_number);
    else
      step_.clock_->mark_copy(mark_number, *stream);
  } else if (!stream && runs_later(code.kind)) {
    step_.clock_->mark(mark_number);
  }
}

// Returns the bytes that the instruction will copy on a copy stream; 1 if not known before launch.
uint64_t region_profiler::bytes_to_copy(const instruction& code) const noexcept {
  if (code.input_count == 0 || !copy_stream_of(code))
    return 0;
  const auto& value = slots_[code.inputs[0]];
  if (value.on_host())
    return 0; // needs no copy
  if (code.kind == action::run && &code.origin->op() == &internal_ops::swap_in)
    return 1; // the size is known after the launch
  return value.bytes();
}

void region_profiler::before_launch(const instruction& code) const {
  next_->copies = step_.marks_copies() ? bytes_to_copy(code) : 0;
  mark(code, 0);
}

void region_profiler::after_launch(const instruction& code) const {
  mark(code, 1);
  if (next_->copies > 0 && code.kind == action::run && code.output_count == 1 &&
      &code.origin->op() == &internal_ops::swap_in)
    next_->copies = slots_[code.first_output].bytes();
}

// Called before the wait begins, since another thread may deliver the answer immediately.
void region_profiler::begin_wait(const instruction& code) const noexcept {
  step_.waits_[code.target].begin_ns.store(steady_ns(), std::memory_order_relaxed);
}

} // namespace troupe
