// Images in summaries, whose files depend on the version of zlib; all else has golden cases.
#include "tests/support/catch.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/troupe.hpp"

#include <cmath>

namespace troupe::test::summary_test {
namespace {

using pixels = std::vector<int>;

struct shown_image {
  std::string tag;
  shape dims;
  pixels values;
};

std::vector<shown_image> shown(const tensor& images, const image_summary_options& options = {}) {
  graph_builder g;
  auto s = session::local();
  auto summary = to_scalar<std::string>(
      s.fetch(image_summary(tensor::scalar(std::string{"i"}), g.constant(images), options)));
  auto event = value_or_throw(parse_event(value_or_throw(write_summary_event(0, 0, summary))));
  std::vector<shown_image> images_shown;
  for (const auto& summary_value : event.values) {
    const auto& image = std::get<event_image>(summary_value.value);
    auto decoded = s.fetch(decode_png(g.constant(tensor::scalar(image.png))));
    CHECK(decoded.dims() == shape{image.height, image.width, image.channels});
    auto bytes = decoded.values<uint8_t>();
    images_shown.push_back({summary_value.tag, decoded.dims(), {bytes.begin(), bytes.end()}});
  }
  return images_shown;
}

template <class T>
tensor images_of(const shape& dims, const std::vector<double>& from) {
  std::vector<T> values;
  for (auto number : from)
    if constexpr (std::is_same_v<T, float16>)
      values.emplace_back(static_cast<float>(number));
    else
      values.push_back(static_cast<T>(number));
  return tensor::from_values<T>(dims, values);
}

} // namespace

// The expected values come from TensorFlow 2.21.
TEST_CASE("images of a summary are scaled as TensorFlow scales them") {
  const shape dims{2, 2, 3, 1};
  const std::vector<double> values{0, 1, NAN, -2, 3, 0.1, 0, 1, 7, 2, 3, 0.1};
  const pixels first{128, 170, 255, 43, 255, 132}, second{0, 36, 254, 72, 109, 3};
  auto f32 = shown(images_of<float>(dims, values), {.max_images = 5});
  REQUIRE(f32.size() == 2);
  CHECK((f32[0].tag == "i/image/0" && f32[1].tag == "i/image/1"));
  CHECK(f32[0].values == first);
  CHECK(f32[1].values == second);
  auto f16 = shown(images_of<float16>(dims, values));
  CHECK(f16[0].values == first);
  CHECK(f16[1].values == pixels{0, 36, 255, 72, 109, 3});
  auto f64 = shown(images_of<double>(dims, values));
  CHECK(f64[0].values == pixels{128, 170, 255, 43, 254, 132});
  CHECK(f64[1].values == second);
  auto single = shown(images_of<float>(dims, values), {.max_images = 1});
  REQUIRE(single.size() == 1);
  CHECK(single[0].tag == "i/image");
}

TEST_CASE("images of bytes are unchanged, and pixels that are not finite get the bad colour") {
  std::vector<double> counted;
  for (int i = 0; i < 24; ++i)
    counted.push_back(i);
  auto bytes = shown(images_of<uint8_t>({1, 2, 4, 3}, counted));
  REQUIRE(bytes.size() == 1);
  CHECK(bytes[0].values == pixels(counted.begin(), counted.end()));
  const std::vector<double> none(6, INFINITY);
  CHECK(shown(images_of<float>({1, 1, 2, 3}, none))[0].values == pixels{255, 0, 0, 255, 0, 0});
  CHECK(shown(images_of<float>({1, 1, 2, 3}, none),
              {.bad_color = tensor::vector<uint8_t>({1, 2, 3})})[0]
            .values == pixels{1, 2, 3, 1, 2, 3});
  const std::vector<double> tiny{0, 1e-9, 2e-9, 3e-9};
  CHECK(shown(images_of<float>({1, 2, 2, 1}, tiny))[0].values == pixels(4, 0));
}

TEST_CASE("images that cannot be shown are refused") {
  auto refused = [](const tensor& images, const image_summary_options& options = {}) {
    try {
      shown(images, options);
      return std::string{};
    } catch (const error& failure) {
      CHECK(failure.kind() == error_kind::invalid_argument);
      return std::string{failure.what()};
    }
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refused(images_of<float>({1, 1, 1, 2}, {0, 0})), Contains("channels"));
  CHECK_THAT(refused(images_of<float>({1, 0, 2, 1}, {})), Contains("rows"));
  CHECK_THAT(refused(images_of<float>({1, 1, 1, 4}, {0, 0, 0, 0}),
                     {.bad_color = tensor::vector<uint8_t>({1, 2})}),
             Contains("bad_color must have 4 channels, has 2"));
  CHECK_THAT(refused(images_of<float>({1, 1, 1, 1}, {0}), {.max_images = 0}),
             Contains("max_images"));
}

} // namespace troupe::test::summary_test
