! SPDX-License-Identifier: BSD-2-Clause
! For comparison, a closure that is fitted offline. The errors of u and v in one step, (truth - S(q)) / dt, are
! approximated by a linear combination of u, v and h - H in 5 x 5 cells and of their products with u and v of the
! cell. The coefficients minimise the sum of squares over samples of the truth. The fit therefore never includes a
! flow that the closure has changed.
module water_regression
  use water_solver
  implicit none
  private
  public :: regression_create, regression_destroy, regression_fit, regression_apply
  integer, parameter :: reach = 2, count_of_features = (2*reach + 1)**2*fields*3, targets = 2
  ! A fraction of the mean diagonal element, added to the diagonal.
  real(real64), parameter :: ridge = 1e-7_real64

  type, public :: regression_t
    type(tenon_linearop) :: halo  ! of two layers
    type(tenon_dtensor) :: ghosted ! with these
    real(real64) :: coefficients(count_of_features, targets)
    real(real64) :: explained ! part of the targets' variance, R^2, in the samples
  end type regression_t

  ! Sums over cells: of products of features, of features with targets, of squared targets.
  type :: normal_t
    real(real64) :: matrix(count_of_features, count_of_features), right(count_of_features, targets), square
  end type normal_t
contains
  subroutine regression_create(g, r)
    type(grid_t), intent(in) :: g
    type(regression_t), intent(out) :: r
    call create_halo(g, reach, r%halo, r%ghosted)
  end subroutine regression_create

  subroutine regression_destroy(r)
    type(regression_t), intent(inout) :: r
    call tenon_destroy(r%ghosted)
    call tenon_destroy(r%halo)
  end subroutine regression_destroy

  pure function features_at(q, i, j) result(feature)
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    integer, intent(in) :: i, j
    real(real64) :: feature(count_of_features), value
    integer :: a, b, k, n
    n = 0
    do k = 1, fields
      do b = j - reach, j + reach
        do a = i - reach, i + reach
          value = q(a, b, k) - merge(depth_at_rest, 0.0_real64, k == fields)
          feature(n + 1:n + 3) = [value, value*q(i, j, 1), value*q(i, j, 2)]
          n = n + 3
        end do
      end do
    end do
  end function features_at

  ! The cells of one sample; `next` is the truth a step later.
  subroutine add_sample(r, s, sample, next, total)
    type(regression_t), intent(in) :: r
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout), target :: sample(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(in) :: next(1 - ghost:, 1 - ghost:, :)
    type(normal_t), intent(inout) :: total
    real(real64), allocatable :: q(:, :, :)
    real(real64) :: feature(count_of_features), target(targets)
    integer :: i, j, a
    call create_field(s%grid, q)
    q = sample
    call step(s, q)
    call fill(s%grid, r%halo, r%ghosted, sample)
    do j = 1, s%grid%ny
      do i = 1, s%grid%nx
        feature = features_at(sample, i, j)
        target = (next(i, j, 1:2) - q(i, j, 1:2))/s%dt
        do a = 1, count_of_features
          total%matrix(a:, a) = total%matrix(a:, a) + feature(a)*feature(a:)
          total%right(a, :) = total%right(a, :) + target*feature(a)
        end do
        total%square = total%square + sum(target**2)
      end do
    end do
  end subroutine add_sample

  ! Cholesky's factor of the lower triangle, in place, after adding the ridge.
  subroutine factor(m)
    real(real64), intent(inout) :: m(:, :)
    real(real64) :: trace
    integer :: a, b
    trace = sum([(m(a, a), a=1, size(m, 1))])
    do a = 1, size(m, 1)
      m(a, a) = m(a, a) + ridge*trace/size(m, 1)
      do b = 1, a - 1
        m(a, b) = (m(a, b) - dot_product(m(a, 1:b - 1), m(b, 1:b - 1)))/m(b, b)
      end do
      m(a, a) = sqrt(m(a, a) - sum(m(a, 1:a - 1)**2))
    end do
  end subroutine factor

  ! The solution with the factor.
  function solution(m, right) result(x)
    real(real64), intent(in) :: m(:, :), right(:)
    real(real64) :: x(size(right))
    integer :: a
    x = right
    do a = 1, size(x)
      x(a) = (x(a) - dot_product(m(a, 1:a - 1), x(1:a - 1)))/m(a, a)
    end do
    do a = size(x), 1, -1
      x(a) = (x(a) - dot_product(m(a + 1:, a), x(a + 1:)))/m(a, a)
    end do
  end function solution

  ! Fits to every `stride`-th of the steps between samples. With a small ridge, the explained square is about
  ! <coefficients, right>.
  subroutine regression_fit(r, s, samples, stride)
    type(regression_t), intent(inout) :: r
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout), target :: samples(1 - ghost:, 1 - ghost:, :, 0:)
    integer, intent(in) :: stride
    type(normal_t), allocatable :: total
    integer :: n, t
    allocate (total)
    total%matrix = 0
    total%right = 0
    total%square = 0
    do n = 0, ubound(samples, 4) - 1, stride
      call add_sample(r, s, samples(:, :, :, n), samples(:, :, :, n + 1), total)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, total%matrix, size(total%matrix), MPI_DOUBLE_PRECISION, MPI_SUM, s%grid%comm)
    call MPI_Allreduce(MPI_IN_PLACE, total%right, size(total%right), MPI_DOUBLE_PRECISION, MPI_SUM, s%grid%comm)
    total%square = sum_over_processes(s%grid, total%square)
    call factor(total%matrix)
    do t = 1, targets
      r%coefficients(:, t) = solution(total%matrix, total%right(:, t))
    end do
    r%explained = sum(r%coefficients*total%right)/total%square
  end subroutine regression_fit

  ! change <- dt times the fitted tendency. Fills ghost cells of q.
  subroutine regression_apply(r, s, q, change)
    type(regression_t), intent(in) :: r
    type(solver_t), intent(in) :: s
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout) :: change(1 - ghost:, 1 - ghost:, :)
    integer :: i, j
    call fill(s%grid, r%halo, r%ghosted, q)
    change = 0
    do j = 1, s%grid%ny
      do i = 1, s%grid%nx
        change(i, j, 1:2) = s%dt*matmul(features_at(q, i, j), r%coefficients)
      end do
    end do
  end subroutine regression_apply
end module water_regression
