#include "troupe/ops/summary/shared/summary_proto.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops::audio_summary_cpu {
namespace {

struct audio_options {
  int64_t most;
  float sample_rate = 0; // 0: the rate is an input
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  audio_options options{setup.origin.attr<int64_t>("max_outputs")};
  if (setup.origin.attrs().contains("sample_rate"))
    options.sample_rate = static_cast<float>(setup.origin.attr<double>("sample_rate"));
  return std::shared_ptr<void>{std::make_shared<audio_options>(options)};
}

int16_t sample_of(float value) {
  return std::isnan(value)
             ? int16_t{0}
             : static_cast<int16_t>(std::clamp(std::round(value * 32768), -32768.0f, 32767.0f));
}

// A WAV file of 16-bit samples.
std::string wav_of(const float* samples, int64_t frames, int64_t channels, uint32_t rate) {
  constexpr uint32_t head = 36, sample_bytes = 2;
  auto frame_bytes = static_cast<uint32_t>(channels) * sample_bytes;
  auto bytes = static_cast<uint32_t>(frames) * frame_bytes;
  auto put_short = [](std::string& to, uint32_t value) {
    to += static_cast<char>(value & 255);
    to += static_cast<char>(value >> 8 & 255);
  };
  std::string to = "RIFF";
  to.reserve(head + 8 + bytes);
  put_fixed(to, head + bytes);
  to += "WAVEfmt ";
  put_fixed(to, uint32_t{16}); // bytes of what follows until "data"
  put_short(to, 1);            // uncompressed samples
  put_short(to, static_cast<uint32_t>(channels));
  put_fixed(to, rate);
  put_fixed(to, rate * frame_bytes);
  put_short(to, frame_bytes);
  put_short(to, 8 * sample_bytes);
  to += "data";
  put_fixed(to, bytes);
  for (int64_t i = 0; i < frames * channels; ++i)
    put_short(to, static_cast<uint16_t>(sample_of(samples[i])));
  return to;
}

status run(kernel_context& at) {
  const auto& options = at.state<audio_options>();
  const auto& sounds = at.input(1);
  const auto& dims = sounds.dims();
  if (at.input(0).rank() != 0)
    return invalid("tag must be a scalar, got shape ", at.input(0).dims());
  if (dims.rank() != 2 && dims.rank() != 3)
    return invalid("sounds must be [batch, frames] or [batch, frames, channels], got ", dims);
  auto rate = options.sample_rate;
  if (rate == 0) {
    if (at.input(2).elements() != 1)
      return invalid("sample_rate must be one number, got shape ", at.input(2).dims());
    rate = at.input(2).data<float>()[0];
  }
  if (!(rate > 0 && rate < 4e9f))
    return invalid("sample_rate must be positive and less than 4e9, got ", rate);
  auto frames = dims[1], channels = dims.rank() == 3 ? dims[2] : 1;
  constexpr int64_t most_bytes = int64_t{1} << 31, most_channels = 32'767;
  if (channels < 1 || channels > most_channels || frames > most_bytes / 2 / channels - 64)
    return invalid("a sound of ", frames, " frames of ", channels,
                   " channels does not fit into a WAV file");
  auto whole_rate = std::max<uint32_t>(static_cast<uint32_t>(std::lrint(rate)), 1);
  std::string summary;
  for (int64_t i = 0; i < std::min(options.most, dims[0]); ++i) {
    std::string about, content;
    put_float(about, 1, rate);
    put_number(about, 2, static_cast<uint64_t>(channels));
    if (frames > 0)
      put_number(about, 3, static_cast<uint64_t>(frames));
    put_bytes(about, 4,
              wav_of(sounds.data<float>() + i * frames * channels, frames, channels, whole_rate));
    put_bytes(about, 5, "audio/wav");
    put_bytes(content, summary_field::audio, about);
    put_summary_value(summary, tag_of(*at.input(0).data<std::string>(), "audio", i, options.most),
                      content);
  }
  return put_summary_output(at, std::move(summary));
}

} // namespace

extern constexpr kernel_def audio_summary_v2_cpu{
    .op = "AudioSummaryV2",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

extern constexpr kernel_def audio_summary_cpu{
    .op = "AudioSummary",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::audio_summary_cpu
