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

// A tensor whose memory nobody else shares was made by the node that has just run. Memory that it
// took over from an input, or that is a constant's or a variable's, is shared at that moment.

bool runs_later(action what) noexcept { return what == action::run || what == action::upload; }

// Which copies beside the line the instruction may launch. Those of what leaves the device are
// downloads.
std::optional<copy_stream> copies_beside(const instruction& code) noexcept {
  if (code.what == action::fetch || code.what == action::send ||
      (code.what == action::run && &code.origin->op() == &internal_ops::swap_out))
    return copy_stream::to_host;
  if (code.what == action::run && &code.origin->op() == &internal_ops::swap_in)
    return copy_stream::to_device;
  return {};
}

// Copies of one kind run one after the other: each begins when the one before has ended.
void order_copies(std::span<step_span> spans, const program& of, copy_stream in) {
  std::vector<step_span*> all;
  for (auto& one : spans)
    if (one.thread == copy_track(of.device().ordinal(), in))
      all.push_back(&one);
  std::ranges::sort(all, {}, [](const step_span* one) { return one->end_ns; });
  for (size_t i = 1; i < all.size(); ++i)
    all[i]->begin_ns = std::clamp(all[i - 1]->end_ns, all[i]->begin_ns, all[i]->end_ns);
}

bool on_host(const program& of) noexcept { return of.device().kind() == device_kind::cpu; }

} // namespace

step_profiler::step_profiler(const program& of)
    : of_(of), instructions_(new instruction_record[of.code().size()]),
      regions_(new region_record[of.regions().size()]), waits_(new wait_record[of.waits().size()]),
      inner_(new block_record[inner_of(of)]) {}

void step_profiler::begin(profile_options what) noexcept {
  what_ = what;
  what_.check_numerics = what.check_numerics && on_host(of_);
  std::fill_n(regions_.get(), of_.regions().size(), region_record{});
  for (size_t i = 0; i < inner_of(of_); ++i) {
    inner_[i].ticks.store(0, std::memory_order_relaxed);
    inner_[i].runs.store(0, std::memory_order_relaxed);
  }
  begun_ = moment::now();
  if (auto* device = of_.device().as_accelerator(); device && what.times) {
    if (!clock_)
      clock_ = device->make_clock(2 * static_cast<uint32_t>(of_.code().size()));
    if (clock_)
      clock_->begin();
  }
  auto now = steady_ns();
  for (size_t i = 0; i < of_.waits().size(); ++i) {
    // A tensor of another device is waited for from the start; a queue, from when it is asked.
    waits_[i].begin_ns.store(is_asked(of_.waits()[i]) ? 0 : now, std::memory_order_relaxed);
    waits_[i].end_ns.store(0, std::memory_order_relaxed);
    waits_[i].bytes.store(0, std::memory_order_relaxed);
  }
}

status step_profiler::check_constants() {
  if (!what_.check_numerics)
    return {};
  std::call_once(constants_seen_, [this] {
    for (const auto& one : of_.constants())
      if (!all_finite(one.value)) {
        constants_ = within(*one.origin, invalid("is a constant that is not finite: ",
                                                 describe(summarize(one.value))));
        return;
      }
  });
  return constants_;
}

// They stand where they began first; how long all runs took together is their length.
void step_profiler::collect_inner(uint32_t first_subject, task_statistics& to) const {
  auto now = moment::now();
  tick_scale scale{begun_, now};
  for (uint32_t i = 0; i < inner_of(of_); ++i) {
    auto runs = inner_[i].runs.load(std::memory_order_relaxed);
    if (runs == 0)
      continue;
    auto first = inner_[i].first.load(std::memory_order_relaxed);
    auto took = inner_[i].ticks.load(std::memory_order_relaxed);
    auto begin = std::clamp(scale.ns(first), begun_.ns, now.ns);
    auto end = std::clamp(scale.ns(first + took), begin, now.ns);
    to.spans.push_back({first_subject + i, 0, begin, end, 0, runs});
  }
}

void step_profiler::end_wait(uint32_t wait, uint64_t bytes) noexcept {
  waits_[wait].bytes.store(bytes, std::memory_order_relaxed);
  waits_[wait].end_ns.store(steady_ns(), std::memory_order_relaxed);
}

void step_profiler::collect(uint32_t first_subject, task_statistics& to) const {
  auto code = of_.code();
  auto regions = of_.regions();
  auto region_subject = first_subject + static_cast<uint32_t>(code.size());
  auto wait_subject = region_subject + static_cast<uint32_t>(regions.size());
  to.spans.reserve(to.spans.size() + subjects_of(of_));
  auto first_copy = to.spans.size();
  auto now = steady_ns(); // all has ended: a device's clock is only as near as a wake-up
  for (uint32_t r = 0; r < regions.size(); ++r) {
    const auto& ran = regions_[r];
    if (ran.begin.ns == 0)
      continue;
    to.spans.push_back({region_subject + r, ran.thread, ran.begin.ns, ran.end.ns, 0});
    tick_scale scale{ran.begin, ran.end};
    auto begin = ran.begin.ns;
    for (uint32_t i = 0; i < ran.ran; ++i) {
      const auto& record = instructions_[regions[r].first + i];
      auto end = std::clamp(scale.ns(record.end), begin, ran.end.ns);
      const auto& instruction = code[regions[r].first + i];
      auto what = instruction.what;
      if (what <= action::read || what == action::send)
        to.spans.push_back(
            {first_subject + regions[r].first + i, ran.thread, begin, end, record.bytes});
      begin = end;
      // What was launched has run later.
      auto mark = 2 * (regions[r].first + i);
      auto beside = copies_beside(instruction);
      auto later = beside ? record.copies && marks_copies() : clock_ && runs_later(what);
      auto ordinal = of_.device().ordinal();
      if (auto ended = later ? std::min(clock_->time_of(mark + 1), now) : 0)
        if (auto began = std::min(clock_->time_of(mark), ended))
          to.spans.push_back({first_subject + regions[r].first + i,
                              beside ? copy_track(ordinal, *beside) : device_track(ordinal), began,
                              ended, beside ? record.copies : 0});
    }
  }
  for (auto in : {copy_stream::to_host, copy_stream::to_device})
    order_copies(std::span{to.spans}.subspan(first_copy), of_, in);
  for (uint32_t i = 0; i < of_.waits().size(); ++i) {
    auto begin = waits_[i].begin_ns.load(std::memory_order_relaxed);
    auto end = waits_[i].end_ns.load(std::memory_order_relaxed);
    if (begin != 0 && end != 0)
      to.spans.push_back({wait_subject + i, 0, begin, std::max(begin, end),
                          waits_[i].bytes.load(std::memory_order_relaxed)});
  }
  collect_inner(wait_subject + static_cast<uint32_t>(of_.waits().size()), to);
}

namespace {

// What a function's nodes are called in statistics: after the first nest that calls it.
std::map<const block*, std::string> names_of_blocks(const program& of) {
  std::map<const block*, std::string> names;
  std::vector<const block*> open;
  auto name = [&](std::span<const instruction> code, const std::string& around) {
    for (const auto& one : code)
      if (one.what == action::call)
        for (const auto* called : static_cast<const call_site*>(one.state)->blocks)
          if (names.emplace(called, concat(around, one.origin->name(), " [", called->name, "] "))
                  .second)
            open.push_back(called);
  };
  name(of.code(), "");
  while (!open.empty()) {
    const auto* next = open.back();
    open.pop_back();
    name(next->code, names.at(next));
  }
  return names;
}

void append_inner_subjects(const program& of, std::string_view device,
                           std::vector<span_subject>& to) {
  auto names = names_of_blocks(of);
  for (const auto& in : of.blocks())
    for (const auto& code : in.code) {
      span_subject subject{.kind = span_kind::inner, .device = std::string{device}};
      if (code.origin) {
        subject.name = concat(names[&in], code.origin->name());
        subject.op = code.origin->op().name;
      }
      to.push_back(std::move(subject));
    }
}

} // namespace

void step_profiler::append_subjects(const program& of, std::string_view device,
                                    std::vector<span_subject>& to) {
  auto first = to.size();
  to.resize(first + of.code().size());
  for (uint32_t r = 0; r < of.regions().size(); ++r)
    for (uint32_t i = 0; i < of.regions()[r].count; ++i) {
      auto at = of.regions()[r].first + i;
      const auto& code = of.code()[at];
      auto& subject = to[first + at];
      subject.device = device;
      subject.region = r;
      if (code.origin) {
        subject.name = code.origin->name();
        subject.op = code.origin->op().name;
      }
      if (code.what == action::read)
        subject.kind = span_kind::read;
      if (code.what == action::send) {
        subject.kind = span_kind::send;
        subject.peer = of.exports()[code.target].to;
        subject.key = of.exports()[code.target].key;
      }
    }
  for (uint32_t r = 0; r < of.regions().size(); ++r)
    to.push_back({.kind = span_kind::region,
                  .name = concat("region ", r),
                  .op = {},
                  .device = std::string{device},
                  .peer = {},
                  .region = r});
  for (const auto& wait : of.waits()) {
    span_subject subject{.kind = span_kind::wait,
                         .name = wait.origin->name(),
                         .op = std::string{wait.origin->op().name},
                         .device = std::string{device},
                         .peer = {},
                         .region = wait.region};
    if (wait.by == answered_by::channel) {
      subject.peer = wait.origin->attr<std::string>("from");
      subject.key = static_cast<uint32_t>(wait.origin->attr<int64_t>("key"));
    }
    to.push_back(std::move(subject));
  }
  append_inner_subjects(of, device, to);
}

// -- one region --------------------------------------------------------------------------------

region_profiler::region_profiler(step_profiler& in, uint32_t region, const tensor* slots) noexcept
    : in_(in), record_(in.regions_[region]),
      next_(in.instructions_.get() + in.of_.regions()[region].first), slots_(slots) {
  record_.thread = thread_number();
  record_.begin = moment::now();
}

region_profiler::~region_profiler() { record_.end = moment::now(); }

void region_profiler::mark(const instruction& code, uint32_t end) const noexcept {
  if (!in_.what_.times || !in_.clock_)
    return;
  auto which = 2 * static_cast<uint32_t>(&code - in_.of_.code().data()) + end;
  auto beside = copies_beside(code);
  if (beside && in_.marks_copies() && next_->copies > 0) {
    // It begins when what it copies is there, and ends in its own time.
    if (end == 0)
      in_.clock_->mark(which);
    else
      in_.clock_->mark_copy(which, *beside);
  } else if (!beside && runs_later(code.what)) {
    in_.clock_->mark(which);
  }
}

// What the instruction copies beside the line, in bytes, as far as it is known before.
uint64_t region_profiler::bytes_to_copy(const instruction& code) const noexcept {
  if (code.input_count == 0 || !copies_beside(code))
    return 0;
  const auto& what = slots_[code.inputs[0]];
  if (what.on_host())
    return 0; // it is there
  if (code.what == action::run && &code.origin->op() == &internal_ops::swap_in)
    return 1; // known when it has been launched
  return what.bytes();
}

void region_profiler::before_launch(const instruction& code) const {
  next_->copies = in_.marks_copies() ? bytes_to_copy(code) : 0;
  mark(code, 0);
}

void region_profiler::after_launch(const instruction& code) const {
  mark(code, 1);
  if (next_->copies > 0 && code.what == action::run && code.output_count == 1 &&
      &code.origin->op() == &internal_ops::swap_in)
    next_->copies = slots_[code.first_output].bytes();
}

// Before the wait begins: its answer may come at once, on another thread.
void region_profiler::begin_wait(const instruction& code) const noexcept {
  in_.waits_[code.target].begin_ns.store(steady_ns(), std::memory_order_relaxed);
}

// Afterwards these may hold the output: the node may write over an input that it uses last, and
// changes the variables that it refers to.

} // namespace troupe
