! SPDX-License-Identifier: BSD-2-Clause
! A ghosted field of a Fortran code, used where it lies: a periodic convolution and its adjoint on a 3-D grid,
! compared with loops over global indices.
program conv3d
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: n(3) = [12, 10, 8], ghosts = 2
  real(real64), parameter :: untouched = -99
  type(MPI_Comm) :: cart
  integer :: lo(3), hi(3), rank
  real(real64), allocatable, target :: u(:, :, :), v(:, :, :), w(:, :, :)
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x, y, dx, dy
  type(tenon_layer) :: conv
  type(tenon_linearop) :: jacobian
  real(real64) :: error, pairings(2), local(3)

  call MPI_Init()
  call decompose(cart, lo, hi)
  call MPI_Comm_rank(cart, rank)
  call make_field(u)
  call make_field(v)
  call make_field(w)
  call tenon_initialize()

  ! (x, y, z, channel, batch)
  call tenon_layout_create_from_boxes(cart, [lo, 1, 1], [hi, 1, 1], layout, shape=[n, 1, 1])
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_place(x, u(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), array=u)
  call make_convolution(conv)
  call tenon_layer_create_output(conv, 1, y)
  call tenon_place(y, v(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), array=v)
  call set_values(u, f)
  call tenon_layer_apply(conv, x, y)
  call tenon_linearop_create_jacobian(conv, x, jacobian) ! A is linear: its Jacobian is A
  call tenon_linearop_apply_add(jacobian, 0.5_real64, x, 0.5_real64, y)

  ! <A u, s> = <u, A* s>
  call tenon_layer_create_output_cotangent(conv, 1, dy)
  call tenon_layer_create_input_cotangent(conv, 1, dx)
  call tenon_place(dx, w(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)), array=w)
  call set_cotangent(dy)
  call tenon_layer_apply_adjoint(conv, dy, dx)

  local = [distance(), product_of(v, s), product_of(w, f)]
  call MPI_Allreduce(local(1), error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart)
  call MPI_Allreduce(local(2), pairings, 2, MPI_DOUBLE_PRECISION, MPI_SUM, cart)
  if (error > 1e-10_real64) error stop 'the convolution is not that of the loops'
  if (abs(pairings(1) - pairings(2)) > 1e-13_real64*abs(pairings(1))) error stop 'the adjoint is not that of the convolution'
  if (any_ghost_touched(v) .or. any_ghost_touched(w)) error stop 'ghost cells were written'

  call tenon_destroy(x)
  call tenon_destroy(y)
  call tenon_destroy(dx)
  call tenon_destroy(dy)
  call tenon_destroy(jacobian)
  call tenon_destroy(conv)
  call tenon_destroy(layout)
  call tenon_finalize()
  deallocate (u, v, w)
  if (rank == 0) print '(a)', 'the convolution and its adjoint agree with the loops'
  call MPI_Comm_free(cart)
  call MPI_Finalize()
contains
  subroutine decompose(cart, lo, hi)
    type(MPI_Comm), intent(out) :: cart
    integer, intent(out) :: lo(3), hi(3)
    integer :: ranks, rank, dims(3), coords(3)
    dims = 0
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Dims_create(ranks, 3, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, [.true., .true., .true.], .true., cart)
    call MPI_Comm_rank(cart, rank)
    call MPI_Cart_coords(cart, rank, 3, coords)
    lo = n*coords/dims + 1
    hi = n*(coords + 1)/dims
  end subroutine decompose

  subroutine make_field(field)
    real(real64), allocatable, intent(out) :: field(:, :, :)
    allocate (field(lo(1) - ghosts:hi(1) + ghosts, lo(2) - ghosts:hi(2) + ghosts, lo(3) - ghosts:hi(3) + ghosts))
    field = untouched
  end subroutine make_field

  ! A kernel of different numbers, set by its indices (kx, ky, kz, in, out).
  subroutine make_convolution(layer)
    type(tenon_layer), intent(out) :: layer
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: weight(:, :, :, :, :)
    integer :: i, j, k
    call tenon_layer_create_conv(cart, 1, 1, [3, 3, 3], layer)
    call tenon_layer_set_data_type(layer, TENON_FLOAT64)
    call tenon_set_bool(layer, 'bias', .false.)
    call tenon_layer_set_padding(layer, [1, 1, 1])
    call tenon_layer_set_boundary(layer, spread(TENON_BOUNDARY_PERIODIC, 1, 3))
    call tenon_layer_set_up(layer, layout)
    call tenon_layer_get_parameter(layer, 1, parameter)
    call tenon_get_array(parameter, weight)
    do k = 1, 3
      do j = 1, 3
        do i = 1, 3
          weight(i, j, k, 1, 1) = c(i, j, k)
        end do
      end do
    end do
    call tenon_restore_array(parameter, weight)
    call tenon_destroy(parameter)
  end subroutine make_convolution

  subroutine set_values(field, values)
    real(real64), intent(inout) :: field(lo(1) - ghosts:, lo(2) - ghosts:, lo(3) - ghosts:)
    interface
      real(real64) function values(i, j, k)
        import :: real64
        integer, intent(in) :: i, j, k
      end function values
    end interface
    integer :: i, j, k
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          field(i, j, k) = values(i, j, k)
        end do
      end do
    end do
  end subroutine set_values

  subroutine set_cotangent(tensor)
    type(tenon_dtensor), intent(in) :: tensor
    real(real64), pointer :: p(:, :, :, :)
    integer :: i, j, k
    call tenon_get_array(tensor, p)
    if (any(lbound(p) /= [lo, 1]) .or. any(ubound(p) /= [hi, 1])) error stop 'the bounds are not global'
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          p(i, j, k, 1) = s(i, j, k)
        end do
      end do
    end do
    call tenon_restore_array(tensor, p)
    if (associated(p)) error stop 'the pointer is still associated'
  end subroutine set_cotangent

  real(real64) function distance()
    integer :: i, j, k
    distance = 0
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          distance = max(distance, abs(v(i, j, k) - convolved(i, j, k)))
        end do
      end do
    end do
  end function distance

  real(real64) function convolved(i, j, k)
    integer, intent(in) :: i, j, k
    integer :: a, b, e
    convolved = 0
    do e = 1, 3
      do b = 1, 3
        do a = 1, 3
          convolved = convolved + c(a, b, e)*f(modulo(i + a - 3, n(1)) + 1, modulo(j + b - 3, n(2)) + 1, &
            modulo(k + e - 3, n(3)) + 1)
        end do
      end do
    end do
  end function convolved

  real(real64) function product_of(field, values)
    real(real64), intent(in) :: field(lo(1) - ghosts:, lo(2) - ghosts:, lo(3) - ghosts:)
    interface
      real(real64) function values(i, j, k)
        import :: real64
        integer, intent(in) :: i, j, k
      end function values
    end interface
    integer :: i, j, k
    product_of = 0
    do k = lo(3), hi(3)
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          product_of = product_of + field(i, j, k)*values(i, j, k)
        end do
      end do
    end do
  end function product_of

  logical function any_ghost_touched(field)
    real(real64), intent(in) :: field(lo(1) - ghosts:, lo(2) - ghosts:, lo(3) - ghosts:)
    real(real64), allocatable :: around(:, :, :)
    around = field
    around(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)) = untouched
    any_ghost_touched = any(abs(around - untouched) > 0)
  end function any_ghost_touched

  ! The field, the cotangent and the kernel.
  real(real64) function f(i, j, k)
    integer, intent(in) :: i, j, k
    f = sin(0.7_real64*i) + cos(1.1_real64*j)*k
  end function f

  real(real64) function s(i, j, k)
    integer, intent(in) :: i, j, k
    s = sin(0.3_real64*i*j + k)
  end function s

  real(real64) function c(i, j, k)
    integer, intent(in) :: i, j, k
    c = i + 10*j - 3*k*k
  end function c
end program conv3d
