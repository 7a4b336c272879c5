! SPDX-License-Identifier: BSD-2-Clause
! The plane channel of channel.c in Fortran: a period in x, walls in z, u and w on faces, a scalar in cells, arrays with
! extents and ghost cells of their own, which the solver fills; a closure 3-16-16-6, from the network file channel.json, reads
! them. It prints what channel.c prints.
module channel_solver
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  implicit none
  integer, parameter :: nx = 20, nz = 11, fields = 3, outputs = 6
  real(real64), parameter :: pi = 3.14159265358979323846_real64

  type :: channel
    type(MPI_Comm) :: comm
    integer :: low(2), high(2), columns, rows ! of this rank's block, x first
    integer :: below, above, left, right ! neighbours; MPI_PROC_NULL behind walls
    real(real64), allocatable :: u(:, :), w(:, :), s(:, :)
  end type channel

contains

  subroutine create_channel(comm, ch)
    type(MPI_Comm), intent(in) :: comm
    type(channel), intent(out) :: ch
    integer, parameter :: extent(2) = [nz, nx]
    integer :: ranks, rank, dims(2), place(2)
    real(real64) :: nan
    call MPI_Comm_size(comm, ranks)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(comm, 2, dims, [.false., .true.], .false., ch%comm)
    call MPI_Comm_rank(ch%comm, rank)
    call MPI_Cart_coords(ch%comm, rank, 2, place)
    ch%low = [extent(2)*place(2)/dims(2) + 1, extent(1)*place(1)/dims(1) + 1]
    ch%high = [extent(2)*(place(2) + 1)/dims(2), extent(1)*(place(1) + 1)/dims(1)]
    ch%columns = ch%high(1) - ch%low(1) + 1
    ch%rows = ch%high(2) - ch%low(2) + 1
    call MPI_Cart_shift(ch%comm, 0, 1, ch%below, ch%above)
    call MPI_Cart_shift(ch%comm, 1, 1, ch%left, ch%right)
    nan = ieee_value(nan, ieee_quiet_nan) ! what the solver does not fill
    allocate (ch%u(0:ch%columns + 1, 0:ch%rows + 1), source=nan)
    allocate (ch%w(0:ch%columns + 1, 0:ch%rows + 2), source=nan) ! one face more than cells, and its ghosts
    allocate (ch%s(-2:ch%columns + 3, -1:ch%rows + 1), source=nan)
  end subroutine create_channel

  ! Values that depend on the place alone. w lies on upper faces: the last one is on the wall, where it is 0.
  subroutine set_fields(ch, which)
    type(channel), intent(inout) :: ch
    integer, intent(in) :: which
    integer :: i, k
    do k = 1, ch%rows
      do i = 1, ch%columns
        ch%u(i, k) = value(0)
        ch%w(i, k) = merge(0._real64, value(1), ch%low(2) + k - 1 == nz)
        ch%s(i, k) = value(2)
      end do
    end do
  contains
    real(real64) function value(f)
      integer, intent(in) :: f
      real(real64) :: x, z
      x = 2*pi*(ch%low(1) + i - 2)/nx
      z = real(ch%low(2) + k - 1, real64)/nz
      value = sin((which + 1)*x + f)*cos(3*z + which) + 0.3_real64*z
    end function value
  end subroutine set_fields

  ! Sends `from` to the rank `target`, and receives `to` from `source`. They are sections such as a(1, :), which are not
  ! contiguous, so they are copied. `to` keeps its values if `source` is MPI_PROC_NULL.
  subroutine pass(ch, from, to, target, source)
    type(channel), intent(in) :: ch
    real(real64), intent(in) :: from(:)
    real(real64), intent(inout) :: to(:)
    integer, intent(in) :: target, source
    real(real64) :: sent(size(from)), received(size(to))
    sent = from
    received = to
    call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, target, 0, received, size(received), &
      MPI_DOUBLE_PRECISION, source, 0, ch%comm, MPI_STATUS_IGNORE)
    to = received
  end subroutine pass

  subroutine fill_ghosts(ch)
    type(channel), intent(inout) :: ch
    call fill(ch%u, lbound(ch%u), .false., -1)
    call fill(ch%w, lbound(ch%w), .true., -1)
    call fill(ch%s, lbound(ch%s), .false., 1)
  contains
    ! `sign`: of what is behind a wall between cells. On faces w is 0 on the lower wall, the face below the first cell.
    subroutine fill(a, first, on_faces, sign)
      integer, intent(in) :: first(2), sign
      real(real64), intent(inout) :: a(first(1):, first(2):)
      logical, intent(in) :: on_faces
      integer :: nc, nr
      nc = ch%columns
      nr = ch%rows
      call pass(ch, a(1, 1:nr), a(nc + 1, 1:nr), ch%left, ch%right)
      call pass(ch, a(nc, 1:nr), a(0, 1:nr), ch%right, ch%left)
      call pass(ch, a(0:nc + 1, 1), a(0:nc + 1, nr + 1), ch%below, ch%above)
      call pass(ch, a(0:nc + 1, nr), a(0:nc + 1, 0), ch%above, ch%below)
      if (ch%below == MPI_PROC_NULL) a(0:nc + 1, 0) = merge(0._real64, sign*a(0:nc + 1, 1), on_faces)
      ! w(nr) is on the upper wall, about which w is odd: w(nr + 1) is the mirror image of w(nr - 1).
      if (ch%above == MPI_PROC_NULL) a(0:nc + 1, nr + 1) = sign*a(0:nc + 1, merge(nr - 1, nr, on_faces))
    end subroutine fill
  end subroutine fill_ghosts

  ! ch + h direction in every element, ghost cells included.
  subroutine move(ch, direction, h)
    type(channel), intent(inout) :: ch
    type(channel), intent(in) :: direction
    real(real64), intent(in) :: h
    ch%u = ch%u + h*direction%u
    ch%w = ch%w + h*direction%w
    ch%s = ch%s + h*direction%s
  end subroutine move
end module channel_solver

module channel_closure
  use channel_solver
  use tenon
  implicit none

  type :: closure
    type(tenon_layer) :: network
    type(tenon_dtensor) :: x, y, dx, dy
    integer(int64) :: messages ! of a whole apply; only the first layer, with windows of 3, can need any
  end type closure

contains

  ! Tensor dimensions are x, z, field, batch.
  subroutine create_closure(ch, filled, c)
    type(channel), intent(in) :: ch
    logical, intent(in) :: filled
    type(closure), intent(out) :: c
    type(tenon_layout) :: layouts(2) ! without and with ghost cells
    type(tenon_layer) :: first
    character(1000) :: path
    integer :: d
    call get_command_argument(1, path) ! channel.json
    call tenon_layer_create_from_file(ch%comm, trim(path), c%network)
    call tenon_layer_get_child(c%network, '0', first)
    call tenon_set_bool(first, 'filled', filled)
    call tenon_layout_create_from_boxes(ch%comm, [ch%low, 1, 1], [ch%high, fields, 1], layouts(1), &
      shape=[nx, nz, fields, 1])
    call tenon_layout_create_like(layouts(1), layouts(2))
    do d = 1, merge(2, 0, filled)
      call tenon_layout_set_halo(layouts(2), d, 1, 1, TENON_BOUNDARY_VALUES, TENON_BOUNDARY_VALUES)
    end do
    call tenon_layout_set_up(layouts(2))
    call tenon_layer_set_up(c%network, layouts(2))
    call tenon_layer_initialize(c%network, 7)
    call tenon_dtensor_create(layouts(2), TENON_FLOAT64, c%x)
    call tenon_layer_create_output(c%network, 1, c%y)
    call tenon_layer_create_output_cotangent(c%network, 1, c%dy)
    call tenon_layer_create_input_cotangent(c%network, 1, c%dx)
    call tenon_dtensor_fill_constant(c%dy, 1._real64)
    call tenon_destroy(first)
    do d = 1, 2
      call tenon_destroy(layouts(d))
    end do
  end subroutine create_closure

  ! The solver's arrays become the tensor's value. Three arrays cannot be one tensor in place, so they are named first, each
  ! as its owned block and the whole array around it, and then copied.
  subroutine take(ch, c)
    type(channel), intent(inout), target :: ch
    type(closure), intent(in) :: c
    associate (n => ch%columns, m => ch%rows)
      call tenon_place_components(c%x, ch%u(1:n, 1:m), ch%u, ch%w(1:n, 1:m), ch%w, ch%s(1:n, 1:m), ch%s)
    end associate
    call tenon_dtensor_gather_arrays(c%x)
  end subroutine take

  ! The sum of the outputs, and how many messages that took.
  subroutine evaluate(ch, c, event, total)
    type(channel), intent(inout) :: ch
    type(closure), intent(inout) :: c
    integer, intent(in) :: event
    real(real64), intent(out) :: total
    call take(ch, c)
    call tenon_log_event_begin(event)
    call tenon_layer_apply(c%network, c%x, c%y)
    call tenon_log_get_work(messages=c%messages)
    call tenon_log_event_end(event)
    call tenon_dtensor_pairing(c%y, c%dy, total)
  end subroutine evaluate
end module channel_closure

program channel_program
  use channel_closure
  implicit none
  type :: results
    real(real64) :: total, slope, order
    integer(int64) :: messages
  end type results
  type(results) :: one, r(2)
  real(real64) :: alone(nx, nz, outputs), ours(nx, nz, outputs)
  integer :: event, rank, ranks, n
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_initialize()
  call tenon_log_enable(.true.)
  call tenon_log_event_register('Closure', event)
  call run(MPI_COMM_SELF, .false., one, alone)
  do n = 1, 2
    ours = alone ! run() sets this rank's block; elsewhere the comparison holds
    call run(MPI_COMM_WORLD, n == 2, r(n), ours)
    call expect(all(abs(ours - alone) < 1e-13_real64), 'outputs are those of one process')
    call expect(abs(r(n)%total - one%total) < 1e-10_real64*abs(one%total), 'their sum is that of one process')
    call expect(abs(r(n)%slope - one%slope) < 1e-10_real64*abs(one%slope), 'so is its derivative')
    call expect(abs(r(n)%order - 2) < 0.05_real64, 'the remainder falls as h^2')
  end do
  call expect(r(2)%messages == 0, 'filled ghost cells need no message')
  call expect(ranks == 1 .or. r(1)%messages > 0, 'without them there are some')
  if (rank == 0) print '("sum ", a, ", slope ", a, ", order ", f5.3, ", messages ", i0, " and ", i0)', &
    text(r(2)%total), text(r(2)%slope), r(2)%order, r(1)%messages, r(2)%messages
  call tenon_finalize()
  call MPI_Finalize()

contains

  subroutine run(comm, filled, its, output)
    type(MPI_Comm), intent(in) :: comm
    logical, intent(in) :: filled
    type(results), intent(out) :: its
    real(real64), intent(inout) :: output(nx, nz, outputs)
    type(channel) :: ch, direction
    type(closure) :: c
    real(real64), pointer :: y(:, :, :, :)
    call create_channel(comm, ch)
    call create_channel(comm, direction)
    call set_fields(ch, 0)
    call set_fields(direction, 1)
    call fill_ghosts(ch)
    call fill_ghosts(direction)
    call create_closure(ch, filled, c)
    call differentiate(ch, direction, c, its)
    its%messages = c%messages
    call evaluate(ch, c, event, its%total) ! until here y was that at x + h/2 direction
    call tenon_get_array_read(c%y, y)
    output(ch%low(1):ch%high(1), ch%low(2):ch%high(2), :) = y(:, :, :, 1)
    call tenon_restore_array_read(c%y, y)
    call destroy(c)
    call MPI_Comm_free(direction%comm)
    call MPI_Comm_free(ch%comm)
  end subroutine run

  ! Value, slope along the direction, and log2 |remainder(h)| / |remainder(h / 2)|.
  subroutine differentiate(ch, direction, c, its)
    type(channel), intent(inout) :: ch, direction
    type(closure), intent(inout) :: c
    type(results), intent(inout) :: its
    real(real64), parameter :: h = 0.02_real64
    real(real64) :: far, near
    call evaluate(ch, c, event, its%total)
    call tenon_layer_apply_adjoint(c%network, c%dy, c%dx)
    call take(direction, c)
    call tenon_dtensor_pairing(c%x, c%dx, its%slope)
    call tenon_layer_set_training(c%network, .false.)
    call move(ch, direction, h)
    call evaluate(ch, c, event, far)
    call move(ch, direction, -h/2)
    call evaluate(ch, c, event, near)
    call move(ch, direction, -h/2)
    its%order = log(abs((far - its%total - h*its%slope)/(near - its%total - h/2*its%slope)))/log(2._real64)
  end subroutine differentiate

  subroutine destroy(c)
    type(closure), intent(inout) :: c
    type(tenon_dtensor) :: tensors(4)
    integer :: i
    tensors = [c%x, c%y, c%dx, c%dy]
    do i = 1, 4
      call tenon_destroy(tensors(i))
    end do
    call tenon_destroy(c%network)
  end subroutine destroy

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (.not. is_so) error stop 'not so: '//what
  end subroutine expect

  ! As %.12e of C.
  function text(number)
    real(real64), intent(in) :: number
    character(:), allocatable :: text
    character(24) :: line
    integer :: e
    write (line, '(es24.12e2)') number
    text = trim(adjustl(line))
    e = index(text, 'E')
    text(e:e) = 'e'
  end function text
end program channel_program
