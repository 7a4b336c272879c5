// SPDX-License-Identifier: BSD-2-Clause
// Tests the fake cuFFT of the stand-in for CUDA: transforms of lines whose modes are known in
// closed form (constants, alternating signs, a single 1), and wrong calls, which give cuFFT's error
// codes, lose the input, or end the program.
#include "kernels/draw.hpp"
#include "kernels/on_device.hpp"
#include "standin/refused.hpp"
#include "sys/cuda/library.hpp"

namespace tenon::test {
namespace {

constexpr long long kExtent = 6, kLines = 2;

// A plan for two lines of six numbers, and an array with room for all that it reads or writes.
struct Lines {
  KernelContext& at = *deviceContext();
  const cuda::FftTable& library = cuda::fft();
  cufftHandle plan = CUFFT_PLAN_NULL;
  std::size_t workBytes = 0;
  Buffer work{1 << 16, "a test's work area", at.memory()};

  explicit Lines(cufftType type) {
    long long n = kExtent;
    EXPECT_EQ(library.cufftCreate(&plan), CUFFT_SUCCESS);
    EXPECT_EQ(library.cufftSetAutoAllocation(plan, 0), CUFFT_SUCCESS);
    EXPECT_EQ(library.cufftMakePlanMany64(plan, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type, kLines,
                                          &workBytes),
              CUFFT_SUCCESS);
    EXPECT_EQ(library.cufftSetStream(plan, static_cast<cudaStream_t>(at.stream().handle())),
              CUFFT_SUCCESS);
  }
  ~Lines() { library.cufftDestroy(plan); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void setWorkArea() {
    ASSERT_EQ(library.cufftSetWorkArea(plan, work.data<void>()), CUFFT_SUCCESS);
  }
  cufftResult run(DeviceCopy<double>& x, DeviceCopy<double>& y, int direction) const {
    return library.cufftXtExec(plan, x.data(), y.data(), direction);
  }
};

// Returns a copy on the device.
DeviceCopy<double> there(const std::vector<double>& values) {
  return {*deviceContext(), values.data(), Index(values.size())};
}

// Two lines of six numbers and their modes 0 to 3, as pairs of real and imaginary part. The
// constant line has mode 0 only, the line of alternating signs mode 3 only.
// Each line has 4 modes, so the array of modes has 2 * 4 * 2 = 16 numbers.
const std::vector<double> kReals{2, 2, 2, 2, 2, 2, 1, -1, 1, -1, 1, -1};
const std::vector<double> kModes{12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0};

void expectNear(const DeviceCopy<double>& got, const std::vector<double>& want) {
  std::vector<double> values(want.size());
  got.fetch(values.data());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], 1e-13) << "at " << i;
}

} // namespace

TEST(StandinCufft, KnowsConstantAndAlternatingLines) {
  Lines forward(CUFFT_D2Z), backward(CUFFT_Z2D);
  forward.setWorkArea();
  backward.setWorkArea();
  auto x = there(kReals), y = there(std::vector<double>(16, 7));
  ASSERT_EQ(forward.run(x, y, CUFFT_FORWARD), CUFFT_SUCCESS);
  expectNear(y, kModes);
  ASSERT_EQ(backward.run(y, x, CUFFT_INVERSE), CUFFT_SUCCESS);
  std::vector<double> sixfold = kReals; // neither direction divides
  for (double& value : sixfold)
    value *= double(kExtent);
  expectNear(x, sixfold);
}

TEST(StandinCufft, ComplexDirectionsAreConjugates) {
  Lines lines(CUFFT_Z2Z);
  lines.setWorkArea();
  // Two lines of six pairs. The first line is i at index 1 and 0 elsewhere, the second one is 0.
  std::vector<double> delta(24, 0);
  delta[3] = 1;
  for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
    auto x = there(delta), y = there(std::vector<double>(24, 7));
    ASSERT_EQ(lines.run(x, y, direction), CUFFT_SUCCESS);
    const double c = 0.5, s = std::sqrt(0.75) *
                              direction; // real and imaginary part of exp(direction i pi / 3)
    std::vector<double> want{0, 1, -s, c, -s, -c, 0, -1, s, -c, s, c};
    want.resize(24, 0);
    expectNear(y, want);
  }
}

TEST(StandinCufft, TransformToRealsLosesItsInput) {
  Lines lines(CUFFT_Z2D);
  lines.setWorkArea();
  auto x = there(kModes), y = there(kReals);
  ASSERT_EQ(lines.run(x, y, CUFFT_INVERSE), CUFFT_SUCCESS);
  std::vector<double> left(16);
  x.fetch(left.data());
  EXPECT_NE(left[0], left[0]); // NaN
}

TEST(StandinCufft, MissingWorkAreaAndOddAddressAreErrors) {
  Lines lines(CUFFT_D2Z);
  // Room for 16 numbers also at the address of element 1, which is not that of a pair.
  auto x = there(kReals), y = there(std::vector<double>(18, 7));
  EXPECT_EQ(lines.run(x, y, CUFFT_FORWARD), CUFFT_NO_WORKSPACE);
  lines.setWorkArea();
  EXPECT_EQ(lines.library.cufftXtExec(lines.plan, x.data(), y.data() + 1, CUFFT_FORWARD),
            CUFFT_UNALIGNED_DATA);
}

TEST(StandinCufft, ShortArrayAndArrayOfTheHostAreRefused) {
  Lines lines(CUFFT_D2Z);
  lines.setWorkArea();
  auto x = there(kReals), y = there(std::vector<double>(14, 7)); // 16 are needed
  EXPECT_EXIT(lines.run(x, y, CUFFT_FORWARD), refusedByStandin, "array of cuFFT");
  std::vector<double> ofHost = kReals;
  EXPECT_EXIT(lines.library.cufftXtExec(lines.plan, ofHost.data(), x.data(), CUFFT_FORWARD),
              refusedByStandin, "array of cuFFT");
}

} // namespace tenon::test
